import { RockpoolError } from '@rockpool/shared';
import type { DocumentWork } from '../documents/document-work.ts';
import { GroupTrace } from './group-trace.ts';
import type { OpenDatabase } from '../store/durability.ts';
import { isOfTheCommit, storeFailure } from '../store/store-failure.ts';
import type { AdmissionRules } from './admission-rules.ts';
import { FailedChangesets, splitPush } from './failed-changesets.ts';
import { admitPushes, type AdmittedPushes, type WaitingConfirm, type WaitingPush } from './admit-pushes.ts';

// Limits of one transaction, so that a busy database does not delay the other databases of its thread.
const MAX_GROUP_CHANGESETS = 2_000;
const MAX_GROUP_BYTES = 4 * 1024 * 1024;

/**
 * A push of edits of large documents takes one commit per edit. Up to this many commits of a push share a delivery,
 * because each delivery has a fixed cost for its readers. The byte limit is about one second of work, because the
 * author waits for outcomes.
 */
const COMMITS_PER_DELIVERY = 16;
const WORK_PER_DELIVERY_BYTES = 4 * 1024 * 1024;

/** How long a confirmation waits for a push to share its commit. Losing a confirmation costs only space. */
const CONFIRM_DELAY_MS = 1_000;

const NOBODY: ReadonlySet<string> = new Set();

interface QueuedPush {
  readonly site: string;
  readonly changesets: number;
  readonly sizeBytes: number;
  readonly take: () => WaitingPush;
  /** Null for a push that `take` creates later. */
  readonly waiting: WaitingPush | null;
  readonly settled: (refusal: RockpoolError | null) => void;
}

export interface PushQueueOptions {
  readonly database: OpenDatabase;
  readonly rules: AdmissionRules;
  /**
   * Called when the pushes of these sites are decided but not yet durable, if another thread waits for the disk.
   * Returns a function to call instead of `onCommitted`. It must not throw. Default: none.
   */
  readonly onDecided?: (authors: ReadonlySet<string>) => () => number;
  /**
   * Called when the pushes of these sites are durable, before their `settled`. Returns the number of sessions that it
   * served.
   */
  readonly onCommitted: (authors: ReadonlySet<string>) => number;
  readonly onFailure: (error: unknown) => void;
}

/**
 * Admits the pushes of one database strictly in order of arrival. One commit takes everything that has arrived by the
 * time the thread is free and the previous commit is durable. A single push therefore does not wait, and under load
 * each commit serves many pushes.
 *
 * A commit is synchronous if the file itself is durable. Otherwise it takes several turns of the event loop, and the
 * file stays unchanged meanwhile. A group with large documents is asynchronous too: it commits up to the next large
 * document, waits for another thread to merge it, then resumes ahead of later pushes.
 */
export class PushQueue {
  private readonly options: PushQueueOptions;
  private waiting: QueuedPush[] = [];
  private readonly failedChangesets = new FailedChangesets();
  private readonly rules: AdmissionRules;
  private readonly confirms = new Map<string, WaitingConfirm>();
  private immediate: NodeJS.Immediate | null = null;
  private confirmTimer: NodeJS.Timeout | null = null;
  // Null while no commit is under way.
  private committing: Promise<void> | null = null;
  // Commits of the current push that are not yet delivered, and the sizes of the documents that they merged.
  private undeliveredCommits = 0;
  private undeliveredBytes = 0;
  // The sites of the running commit.
  private sitesCommitting: ReadonlySet<string> = NOBODY;

  constructor(options: PushQueueOptions) {
    this.options = options;
    this.rules = { ...options.rules, failed: this.failedChangesets.toReject };
  }

  get isEmpty(): boolean {
    return this.waiting.length === 0 && this.confirms.size === 0 && this.committing === null;
  }

  push(waiting: WaitingPush, settled: QueuedPush['settled']): void {
    const { site, push } = waiting;
    const sizeBytes = push.changesets.reduce((sum, { body }) => sum + body.length, 0);
    this.waiting.push({ site, changesets: push.changesets.length, sizeBytes, take: () => waiting, waiting, settled });
    this.schedule();
  }

  /** Queues a push of one changeset that `take` can build only after the pushes before it are decided. */
  pushLate(site: string, sizeBytes: number, take: () => WaitingPush, settled: QueuedPush['settled']): void {
    this.waiting.push({ site, changesets: 1, sizeBytes, take, waiting: null, settled });
    this.schedule();
  }

  confirm(confirm: WaitingConfirm): void {
    this.confirms.set(confirm.site, confirm);
    if (this.confirmTimer !== null) return;
    this.confirmTimer = setTimeout(() => this.drain(), CONFIRM_DELAY_MS);
    this.confirmTimer.unref();
  }

  /**
   * Decides the pushes of the site's earlier session. Null if it is done. Otherwise call it again when the promise
   * resolves; pushes of other sites do not prolong the wait.
   */
  settle(site: string): Promise<void> | null {
    while (
      this.confirms.has(site) ||
      this.waiting.some((queued) => queued.site === site) ||
      this.sitesCommitting.has(site)
    ) {
      if (this.committing !== null) return this.committing;
      this.drain();
    }
    return null;
  }

  /** Decides everything in the queue. Null if it is done. */
  drainAll(): Promise<void> | null {
    while (this.committing === null && !this.isEmpty) this.drain();
    if (this.immediate !== null) clearImmediate(this.immediate);
    this.immediate = null;
    return this.committing?.then(() => this.drainAll() ?? undefined) ?? null;
  }

  private schedule(): void {
    // Runs after the event loop has read every socket with data, so that pushes that arrive together are committed
    // together.
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
    this.sitesCommitting = new Set([...group, ...confirms].map(({ site }) => site));
    this.committing = admitted.finally(() => {
      this.committing = null;
      this.sitesCommitting = NOBODY;
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

  /** Null if it is done. */
  private admit(group: readonly QueuedPush[], confirms: readonly WaitingConfirm[]): Promise<void> | null {
    const { database } = this.options;
    let admitted: AdmittedPushes | Promise<AdmittedPushes>;
    let publish: (() => number) | null = null;
    const trace = GroupTrace.of(group.map(({ waiting }) => waiting?.trace));
    try {
      admitted = database.commit(
        () => {
          trace?.began();
          const result = admitPushes(
            database.file,
            this.rules,
            group.map(({ take }) => take),
            confirms,
          );
          trace?.decided();
          return result;
        },
        ({ refusals, needed }) => {
          trace?.written();
          if (needed === null) publish = this.options.onDecided?.(sitesOf(decided(group, refusals))) ?? null;
        },
        trace?.traceparent,
      );
    } catch (error) {
      return this.failed(group, error);
    }
    if (!(admitted instanceof Promise)) return this.committed(group, admitted, null, trace);
    return admitted.then(
      (result) => this.committed(group, result, publish, trace) ?? undefined,
      (error: unknown) => this.failed(group, error) ?? undefined,
    );
  }

  private committed(
    group: readonly QueuedPush[],
    { refusals, needed }: AdmittedPushes,
    publish: (() => number) | null,
    trace: GroupTrace | null,
  ): Promise<void> | null {
    trace?.durable();
    const { documents } = this.options.database.file;
    const rest = group.slice(refusals.length);
    if (needed === null || refusals.length > 0 || this.mayDeliver(needed))
      this.deliver(decided(group, refusals), publish, trace);
    for (const { site, waiting } of group.slice(0, refusals.length))
      for (const { sequence } of waiting?.push.changesets ?? []) this.failedChangesets.settled(site, sequence);
    group.slice(0, refusals.length).forEach(({ settled }, i) => this.guarded(() => settled(refusals[i] ?? null)));
    if (needed !== null) {
      return documents.prepare(needed).then(
        () => this.admit(rest, []) ?? undefined,
        (error: unknown) => this.failed(rest, error) ?? undefined,
      );
    }
    documents.clear();
    // The turn ended before these pushes, which come first in the next one.
    if (refusals.length < group.length) {
      this.waiting.unshift(...rest);
      this.schedule();
    }
    return null;
  }

  /** Whether to deliver the commits of an unfinished push now. */
  private mayDeliver(next: DocumentWork): boolean {
    this.undeliveredCommits++;
    this.undeliveredBytes += next.kind === 'merge' ? next.document.length : next.content.length;
    return this.undeliveredCommits >= COMMITS_PER_DELIVERY || this.undeliveredBytes >= WORK_PER_DELIVERY_BYTES;
  }

  private deliver(authors: readonly QueuedPush[], publish: (() => number) | null, trace: GroupTrace | null): void {
    this.undeliveredCommits = 0;
    this.undeliveredBytes = 0;
    this.guarded(() => {
      const sessions = publish?.() ?? this.options.onCommitted(sitesOf(authors));
      trace?.published(sessions);
    });
  }

  /** A callback that throws must neither revert a decision nor prevent other callbacks. */
  private guarded(callback: () => void): void {
    try {
      callback();
    } catch (error) {
      this.options.onFailure(error);
    }
  }

  private failed(group: readonly QueuedPush[], error: unknown): Promise<void> | null {
    this.options.database.file.documents.clear();
    if (this.undeliveredCommits > 0) this.deliver(group.slice(0, 1), null, null);
    // A push that cannot be stored must not fail the others, but a store that is unavailable fails all of them.
    const failure = storeFailure(error);
    const isOfChangeset = isOfTheCommit(error);
    const isForAll =
      !isOfChangeset &&
      (failure.code === 'database-damaged' || (failure === error && failure.code === 'database-unavailable'));
    if (group.length > 1 && !isForAll) return this.oneByOne(group);
    this.options.onFailure(failure);
    const [single] = group;
    const again = isOfChangeset && single !== undefined && single.waiting !== null ? this.isolate(single) : null;
    if (again !== null) return this.oneByOne(again);
    const refusal =
      isForAll || failure.code === 'server-disk-full'
        ? failure
        : new RockpoolError('database-unavailable', {}, { cause: error });
    for (const { settled } of group) this.guarded(() => settled(refusal));
    return null;
  }

  /**
   * The pushes that replace one whose commit failed through its own fault: its changesets one by one, or the same
   * single changeset again, to be rejected. Null if the push is to be refused, so that its author repeats it.
   */
  private isolate(queued: QueuedPush): readonly QueuedPush[] | null {
    const { waiting, site } = queued;
    const [changeset, ...more] = waiting?.push.changesets ?? [];
    if (waiting === null || changeset === undefined) return null;
    if (more.length > 0) return this.parts(queued, splitPush(waiting));
    return this.failedChangesets.failed(site, changeset.sequence) ? [queued] : null;
  }

  /** Settles once: with the first refusal, or after the last part. Parts after a refused one are not admitted. */
  private parts(queued: QueuedPush, pushes: readonly WaitingPush[]): QueuedPush[] {
    let refusal: RockpoolError | null = null;
    return pushes.map((waiting, i): QueuedPush => {
      const { length: sizeBytes = 0 } = waiting.push.changesets[0]?.body ?? {};
      return {
        site: queued.site,
        changesets: 1,
        sizeBytes,
        waiting,
        take: () => (refusal === null ? waiting : { ...waiting, push: { ...waiting.push, changesets: [] } }),
        settled: (ofPart) => {
          refusal ??= ofPart;
          if (i === pushes.length - 1) queued.settled(refusal);
        },
      };
    });
  }

  private oneByOne([first, ...others]: readonly QueuedPush[]): Promise<void> | null {
    if (first === undefined) return null;
    const admitted = this.admit([first], []);
    return admitted === null ? this.oneByOne(others) : admitted.then(() => this.oneByOne(others) ?? undefined);
  }
}

/** The pushes that a commit has decided, and the next one, which it may have decided in part. */
function decided(group: readonly QueuedPush[], refusals: readonly unknown[]): readonly QueuedPush[] {
  return group.slice(0, refusals.length + 1);
}

function sitesOf(group: readonly QueuedPush[]): ReadonlySet<string> {
  return new Set(group.map(({ site }) => site));
}
