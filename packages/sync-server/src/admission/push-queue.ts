import { RockpoolError } from '@rockpool/shared';
import type { DocumentWork } from '../documents/document-work.ts';
import type { OpenDatabase } from '../store/durability.ts';
import { storeFailure } from '../store/store-failure.ts';
import type { AdmissionRules } from './admission-rules.ts';
import { admitPushes, type AdmittedPushes, type WaitingConfirm, type WaitingPush } from './admit-pushes.ts';

// One transaction takes up to this much, so that one busy database does not hold up the others (all share one thread).
const MAX_GROUP_CHANGESETS = 2_000;
const MAX_GROUP_BYTES = 4 * 1024 * 1024;

/**
 * A push of edits of large documents takes a commit for each edit. Up to so many commits of one push share their
 * deliveries, each of which costs its reader something by itself; but no more than work on so many bytes of documents,
 * which takes a second, since the author waits for outcomes.
 */
const COMMITS_PER_DELIVERY = 16;
const WORK_PER_DELIVERY_BYTES = 4 * 1024 * 1024;

/** A confirmation alone may wait this long for a push to share its commit: losing it costs nothing but space. */
const CONFIRM_DELAY_MS = 1_000;

const NOBODY: ReadonlySet<string> = new Set();

interface QueuedPush {
  readonly site: string;
  readonly changesets: number;
  readonly sizeBytes: number;
  readonly take: () => WaitingPush;
  readonly settled: (refusal: RockpoolError | null) => void;
}

export interface PushQueueOptions {
  readonly database: OpenDatabase;
  readonly rules: AdmissionRules;
  /** The pushes of these sites are durable now. Called before `settled` of each of them. */
  readonly onCommitted: (authors: ReadonlySet<string>) => void;
  readonly onFailure: (error: unknown) => void;
}

/**
 * The pushes of one database, admitted strictly in order of arrival. Everything that has arrived by the time the thread
 * is free, and the commit before it durable, goes into one commit: a lone push waits for nobody, and under load each
 * commit serves many.
 *
 * Where the file itself is what lasts, a commit is done when it returns; else it takes turns of the event loop, during
 * which the file is as it was. So does a group with large documents in it: it is committed as far as the next of them,
 * which another thread works on, and then goes on, before all that came later.
 */
export class PushQueue {
  private readonly options: PushQueueOptions;
  private waiting: QueuedPush[] = [];
  private readonly confirms = new Map<string, WaitingConfirm>();
  private immediate: NodeJS.Immediate | null = null;
  private confirmTimer: NodeJS.Timeout | null = null;
  // Null: no commit is under way.
  private committing: Promise<void> | null = null;
  // Commits that have decided a part of the push that is being admitted, and are not delivered yet; and the sizes of
  // the documents they worked on.
  private untold = 0;
  private untoldBytes = 0;
  // The sites of that commit.
  private underWay: ReadonlySet<string> = NOBODY;

  constructor(options: PushQueueOptions) {
    this.options = options;
  }

  get isEmpty(): boolean {
    return this.waiting.length === 0 && this.confirms.size === 0 && this.committing === null;
  }

  push(waiting: WaitingPush, settled: QueuedPush['settled']): void {
    const { site, push } = waiting;
    const sizeBytes = push.changesets.reduce((sum, { body }) => sum + body.length, 0);
    this.waiting.push({ site, changesets: push.changesets.length, sizeBytes, take: () => waiting, settled });
    this.schedule();
  }

  /** A push of one changeset that can be made only when its turn comes, because it follows what is before it. */
  pushLate(site: string, sizeBytes: number, take: () => WaitingPush, settled: QueuedPush['settled']): void {
    this.waiting.push({ site, changesets: 1, sizeBytes, take, settled });
    this.schedule();
  }

  confirm(confirm: WaitingConfirm): void {
    this.confirms.set(confirm.site, confirm);
    if (this.confirmTimer !== null) return;
    this.confirmTimer = setTimeout(() => this.drain(), CONFIRM_DELAY_MS);
    this.confirmTimer.unref();
  }

  /**
   * Decides now what this site has sent on a session before. Null: that is done; else to be asked again then, however
   * much others send meanwhile.
   */
  settle(site: string): Promise<void> | null {
    while (this.confirms.has(site) || this.waiting.some((queued) => queued.site === site) || this.underWay.has(site)) {
      if (this.committing !== null) return this.committing;
      this.drain();
    }
    return null;
  }

  /** Decides all that waits. Null: that is done. */
  drainAll(): Promise<void> | null {
    while (this.committing === null && !this.isEmpty) this.drain();
    if (this.immediate !== null) clearImmediate(this.immediate);
    this.immediate = null;
    return this.committing?.then(() => this.drainAll() ?? undefined) ?? null;
  }

  private schedule(): void {
    // After the event loop has read every socket that has something: what arrives together is committed together.
    this.immediate ??= setImmediate(() => {
      this.immediate = null;
      this.drain();
    });
  }

  private drain(): void {
    if (this.isEmpty || this.committing !== null) return;
    if (this.confirmTimer !== null) clearTimeout(this.confirmTimer);
    this.confirmTimer = null;
    const group = this.takeGroup();
    const confirms = [...this.confirms.values()];
    this.confirms.clear();
    if (this.waiting.length > 0) this.schedule();
    const admitted = this.admit(group, confirms);
    if (admitted === null) return;
    this.underWay = new Set([...group, ...confirms].map(({ site }) => site));
    this.committing = admitted.finally(() => {
      this.committing = null;
      this.underWay = NOBODY;
      if (!this.isEmpty) this.schedule();
    });
  }

  private takeGroup(): QueuedPush[] {
    let changesets = 0;
    let sizeBytes = 0;
    let count = 0;
    for (const queued of this.waiting) {
      changesets += queued.changesets;
      sizeBytes += queued.sizeBytes;
      if (count > 0 && (changesets > MAX_GROUP_CHANGESETS || sizeBytes > MAX_GROUP_BYTES)) break;
      count++;
    }
    return this.waiting.splice(0, count);
  }

  /** Null: it is done. */
  private admit(group: readonly QueuedPush[], confirms: readonly WaitingConfirm[]): Promise<void> | null {
    const { database, rules } = this.options;
    let admitted: AdmittedPushes | Promise<AdmittedPushes>;
    try {
      admitted = database.commit(() =>
        admitPushes(
          database.file,
          rules,
          group.map(({ take }) => take),
          confirms,
        ),
      );
    } catch (error) {
      return this.failed(group, error);
    }
    if (!(admitted instanceof Promise)) return this.committed(group, admitted);
    return admitted.then(
      (result) => this.committed(group, result) ?? undefined,
      (error: unknown) => this.failed(group, error) ?? undefined,
    );
  }

  private committed(group: readonly QueuedPush[], { refusals, needed }: AdmittedPushes): Promise<void> | null {
    const { documents } = this.options.database.file;
    const rest = group.slice(refusals.length);
    // The one that goes on may be decided in part.
    if (needed === null || refusals.length > 0 || this.mayDeliver(needed))
      this.deliver(group.slice(0, refusals.length + 1));
    group.slice(0, refusals.length).forEach(({ settled }, i) => this.tell(() => settled(refusals[i] ?? null)));
    if (needed !== null) {
      return documents.prepare(needed).then(
        () => this.admit(rest, []) ?? undefined,
        (error: unknown) => this.failed(rest, error) ?? undefined,
      );
    }
    documents.clear();
    return null;
  }

  /** Whether what was committed of the push that is being admitted is to be delivered before it is through. */
  private mayDeliver(next: DocumentWork): boolean {
    this.untold++;
    this.untoldBytes += next.kind === 'merge' ? next.document.length : next.content.length;
    return this.untold >= COMMITS_PER_DELIVERY || this.untoldBytes >= WORK_PER_DELIVERY_BYTES;
  }

  private deliver(authors: readonly QueuedPush[]): void {
    this.untold = 0;
    this.untoldBytes = 0;
    this.tell(() => this.options.onCommitted(new Set(authors.map(({ site }) => site))));
  }

  /** What is decided stays so, and whoever else waits for it is told, whatever goes wrong in telling one. */
  private tell(one: () => void): void {
    try {
      one();
    } catch (error) {
      this.options.onFailure(error);
    }
  }

  private failed(group: readonly QueuedPush[], error: unknown): Promise<void> | null {
    this.options.database.file.documents.clear();
    if (this.untold > 0) this.deliver(group.slice(0, 1));
    // One push that cannot be stored must not take the others with it. Where nothing can be stored now, that is so for
    // all of them.
    const failure = storeFailure(error);
    const isForAll =
      failure.code === 'database-damaged' || (failure === error && failure.code === 'database-unavailable');
    if (group.length > 1 && !isForAll) return this.oneByOne(group);
    this.options.onFailure(failure);
    const refusal =
      isForAll || failure.code === 'server-disk-full'
        ? failure
        : new RockpoolError('database-unavailable', {}, { cause: error });
    for (const { settled } of group) this.tell(() => settled(refusal));
    return null;
  }

  private oneByOne([first, ...others]: readonly QueuedPush[]): Promise<void> | null {
    if (first === undefined) return null;
    const admitted = this.admit([first], []);
    return admitted === null ? this.oneByOne(others) : admitted.then(() => this.oneByOne(others) ?? undefined);
  }
}
