import { RockpoolError } from '@rockpool/shared';
import type { DatabaseFile } from '../store/database-file.ts';
import type { AdmissionRules } from './admission-rules.ts';
import { admitPushes, type WaitingConfirm, type WaitingPush } from './admit-pushes.ts';

// One transaction takes up to this much, so that one busy database does not hold up the others (all share one thread).
const MAX_GROUP_CHANGESETS = 2_000;
const MAX_GROUP_BYTES = 4 * 1024 * 1024;

/** A confirmation alone may wait this long for a push to share its commit: losing it costs nothing but space. */
const CONFIRM_DELAY_MS = 1_000;

interface QueuedPush {
  readonly waiting: WaitingPush;
  readonly settled: (refusal: RockpoolError | null) => void;
}

export interface PushQueueOptions {
  readonly file: DatabaseFile;
  readonly rules: AdmissionRules;
  /** The pushes of these sites are durable now. Called before `settled` of each of them. */
  readonly onCommitted: (authors: ReadonlySet<string>) => void;
  readonly onFailure: (error: unknown) => void;
}

/**
 * The pushes of one database, admitted strictly in order of arrival. Everything that has arrived by the time the thread is
 * free goes into one commit: a lone push waits for nobody, and under load each fsync serves many.
 */
export class PushQueue {
  private readonly options: PushQueueOptions;
  private waiting: QueuedPush[] = [];
  private readonly confirms = new Map<string, WaitingConfirm>();
  private immediate: NodeJS.Immediate | null = null;
  private confirmTimer: NodeJS.Timeout | null = null;

  constructor(options: PushQueueOptions) {
    this.options = options;
  }

  get isEmpty(): boolean {
    return this.waiting.length === 0 && this.confirms.size === 0;
  }

  push(waiting: WaitingPush, settled: (refusal: RockpoolError | null) => void): void {
    this.waiting.push({ waiting, settled });
    this.schedule();
  }

  confirm(confirm: WaitingConfirm): void {
    this.confirms.set(confirm.site, confirm);
    if (this.confirmTimer !== null) return;
    this.confirmTimer = setTimeout(() => this.drain(), CONFIRM_DELAY_MS);
    this.confirmTimer.unref();
  }

  /** Decides now what this site has sent on a session before. */
  settle(site: string): void {
    if (this.confirms.has(site) || this.waiting.some(({ waiting }) => waiting.site === site)) this.drainAll();
  }

  /** Before the file closes: nothing is left waiting. */
  drainAll(): void {
    do this.drain();
    while (this.waiting.length > 0);
    if (this.immediate !== null) clearImmediate(this.immediate);
    this.immediate = null;
  }

  private schedule(): void {
    // After the event loop has read every socket that has something: what arrives together is committed together.
    this.immediate ??= setImmediate(() => {
      this.immediate = null;
      this.drain();
    });
  }

  private drain(): void {
    if (this.confirmTimer !== null) clearTimeout(this.confirmTimer);
    this.confirmTimer = null;
    if (this.isEmpty) return;
    const group = this.takeGroup();
    const confirms = [...this.confirms.values()];
    this.confirms.clear();
    if (this.waiting.length > 0) this.schedule();
    this.admit(group, confirms);
  }

  private takeGroup(): QueuedPush[] {
    let changesets = 0;
    let sizeBytes = 0;
    let count = 0;
    for (const { waiting } of this.waiting) {
      changesets += waiting.push.changesets.length;
      for (const { body } of waiting.push.changesets) sizeBytes += body.length;
      if (count > 0 && (changesets > MAX_GROUP_CHANGESETS || sizeBytes > MAX_GROUP_BYTES)) break;
      count++;
    }
    return this.waiting.splice(0, count);
  }

  private admit(group: readonly QueuedPush[], confirms: readonly WaitingConfirm[]): void {
    const { file, rules, onCommitted, onFailure } = this.options;
    let refusals: (RockpoolError | null)[];
    try {
      refusals = admitPushes(file, rules, group.map(({ waiting }) => waiting), confirms);
    } catch (error) {
      if (group.length > 1) {
        // One push that cannot be stored must not take the others with it.
        for (const queued of group) this.admit([queued], []);
        return;
      }
      onFailure(error);
      for (const { settled } of group) settled(new RockpoolError('database-unavailable', {}, { cause: error }));
      return;
    }
    onCommitted(new Set(group.map(({ waiting }) => waiting.site)));
    group.forEach(({ settled }, i) => settled(refusals[i] ?? null));
  }
}
