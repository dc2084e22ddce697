import { RockpoolError } from '@rockpool/shared';
import { encodeError } from '../../rpc/error-transfer.ts';
import type { TouchedTables } from '../../rpc/query-dependencies.ts';
import type { Reads } from '../../rpc/reads.ts';
import type { StatementOutcome } from '../../rpc/sql-statement.ts';
import type { WriteOutcome, WriteRequest } from '../../rpc/write-request.ts';
import type { Clock } from './clock.ts';
import { createAnsweredRequests, type AnsweredRequests } from './answered-requests.ts';
import type {
  AskMessage,
  BroadcastMessage,
  DirectMessage,
  LeaderRequest,
  LeaderStatus,
  StatusMessage,
} from './channel-message.ts';
import { callReads } from './forwarded-reads.ts';
import type { CommitNotice, CommitPosition } from '../invalidate/commit-notice.ts';
import { LeaderTransactions, type WriterTransaction, type WatchOwner } from './leader-transactions.ts';
import type { OpenedDatabase } from './opened-database.ts';
import { ReadInterrupted } from './opened-database.ts';
import type { TabOptions } from './tab-options.ts';
import { readsBeside } from './reads-beside.ts';
import { WriterQueue } from './writer-queue.ts';

/** The part of a write outcome that is used. */
export type ServedOutcome = Omit<WriteOutcome, 'sequence'>;

/** The part of a database that is used. */
export interface WritableDatabase {
  /** Why the app may not write; null or absent if it may write. */
  readonly readOnly?: RockpoolError | null;
  /** See OpenDatabase. Absent: false. */
  hasOlderRulesThan?(schema: string): boolean;
  /** `refusal`: throws it unless the request has been committed before. */
  write(request: WriteRequest, refusal?: RockpoolError): ServedOutcome;
  /** No other call is allowed until the transaction ends. */
  begin(options: { readonly atomic: boolean; readonly withoutTriggers: boolean }): WriterTransaction<ServedOutcome>;
}

/**
 * A tab that missed a commit notice is informed by the next one, or by this repetition if none follows. The same holds
 * for a tab that is not registered here.
 */
export const NOTICE_REPEAT_MS = 2_000;

/** With many writes, the status changes several times per millisecond. A page shows it once per frame. */
const STATUS_EVERY_MS = 16;

/** A leader's background work, such as sync. */
export interface LeaderWork {
  /** Called after a write of this or another tab was committed. */
  onLocalCommit(): void;
  /** Retries sync at once instead of at the next attempt. */
  tryNow(): void;
  /** Withdraws a changeset from the outbox; see WriteAction. Absent without a server. */
  withdraw?(id: string): ServedOutcome;
  /** Called after the medium has undone a commit of the previous work, which `startAnew` has replaced by this one. */
  onRefused?(error: RockpoolError): void;
  /** Resolves when the work no longer uses the database. */
  stop(): Promise<void>;
}

/** What that work may use. */
export interface LeaderTools<Database> {
  readonly database: Database;
  /** See OpenedDatabase. Nothing may leave this device before the commits on which it depends are stored. */
  readonly committed?: () => Promise<void>;
  /** Called after every commit that is not a tab's write, in the same task. `touched` may name no table. */
  publishCommit(touched: TouchedTables): void;
  publishStatus(status: Omit<LeaderStatus, 'readOnly'>): void;
  /** Reports a background problem to the app. */
  publishProblem(error: RockpoolError): void;
  /** Runs a writing task now, or when the open interactive transaction ends. It must not throw. */
  inTurn(job: () => void): void;
}

export interface LeadershipOptions<Database> {
  /** Identifies this leadership uniquely. */
  readonly leaderTerm: string;
  readonly tabId: string;
  readonly opened: OpenedDatabase<Database>;
  readonly sharesFiles: boolean;
  readonly schema: string;
  readonly migrationCount: number;
  readonly tabOptions: TabOptions;
  readonly initialStatus: LeaderStatus;
  readonly clock: Clock;
  /** Whether any other tab is registered as a listener. A broadcast costs more than a small write. */
  readonly hasFollowers: () => boolean;
  readonly watchOwner: WatchOwner;
  readonly post: (message: BroadcastMessage) => void;
  readonly send: (tabId: string, message: DirectMessage) => void;
  readonly startWork: (tools: LeaderTools<Database>) => LeaderWork;
  readonly onCommit: (notice: CommitNotice) => void;
  readonly onStatus: (status: LeaderStatus) => void;
  readonly onProblem: (error: RockpoolError) => void;
}

/**
 * The leader's service to all tabs: runs writes, reads for tabs that cannot, numbers commits and publishes the status.
 * Exists from the take-over until the leader steps down. A commit is announced to its author, to other tabs and to the
 * server only after the medium has stored it.
 */
export class Leadership<Database extends WritableDatabase> {
  readonly leaderTerm: string;
  /** For this tab and for followers that read through the leader. */
  readonly reads: Reads;
  private readonly options: LeadershipOptions<Database>;
  private readonly answered: AnsweredRequests;
  /** Follower requests in progress, and whether they have begun. */
  private readonly inProgress = new Map<string, boolean>();
  private readonly writerQueue = new WriterQueue();
  private readonly transactions: LeaderTransactions<ServedOutcome>;
  private work: LeaderWork;
  private status: LeaderStatus;
  private statusNumber = 0;
  private commitNumber = 0;
  private cancelTellingAgain: (() => void) | null = null;
  private cancelTellingStatus: (() => void) | null = null;

  constructor(options: LeadershipOptions<Database>) {
    this.options = options;
    this.leaderTerm = options.leaderTerm;
    const { opened, clock, onProblem } = options;
    this.status = { ...options.initialStatus, readOnly: opened.database.readOnly?.toData() ?? null };
    this.answered = createAnsweredRequests(clock.nowMs);
    this.transactions = new LeaderTransactions({
      writerQueue: this.writerQueue,
      begin: (how) => opened.database.begin(how),
      clock,
    });
    this.reads = readsBeside(opened, this.writerQueue, onProblem);
    this.work = this.startWork();
  }

  get position(): CommitPosition {
    return { leaderTerm: this.leaderTerm, commitNumber: this.commitNumber };
  }

  get currentStatus(): LeaderStatus {
    return this.status;
  }

  /**
   * Begins a request of this tab or of a follower, before this function returns. A write commits at once, or after the
   * end of an open transaction. Resolves with the response; for a write, when it is stored.
   */
  async carryOut(id: string, request: LeaderRequest, asked: Asked = IN_THIS_TAB): Promise<unknown> {
    switch (request.kind) {
      case 'read':
        return callReads(this.reads, request);
      case 'sync-now':
        return this.work.tryNow();
      case 'step':
        return this.transactions.ask(request.transactionId, request.ask, asked.watchOwner);
      case 'write':
        return this.commit({ ...request, id }, asked);
    }
  }

  /**
   * Runs a follower's request, unless the request is for a different leader, has expired, or follows a write that has
   * not arrived; in these cases the follower repeats it. A request that is repeated while it runs is answered once. The
   * follower learns when its write or read begins, and again when it repeats the request, because messages may be lost.
   */
  async serve({
    tabId,
    requestId,
    attempt,
    afterRequestId,
    request,
    leaderTerm,
    latestStartMs,
  }: AskMessage): Promise<void> {
    const { answered, inProgress } = this;
    const { send, clock, watchOwner } = this.options;
    if (leaderTerm !== this.leaderTerm || clock.nowMs() > latestStartMs) return;
    const onBegun = (): void => {
      inProgress.set(requestId, true);
      send(tabId, { kind: 'begun', leaderTerm, requestId });
    };
    if (inProgress.get(requestId) === true) onBegun();
    if (inProgress.has(requestId)) return;
    if (afterRequestId !== null && !answered.has(afterRequestId) && !inProgress.has(afterRequestId)) return;
    const refusal = answered.refusalOf(requestId, attempt);
    if (refusal !== null) return send(tabId, { kind: 'refused', requestId, error: refusal });
    // A repeated step would take effect twice, because its id is not stored with its effect.
    if (request.kind === 'step' && answered.has(requestId)) return;
    inProgress.set(requestId, false);
    if (request.kind === 'read') onBegun();
    try {
      const answer = await this.carryOut(requestId, request, { latestStartMs, onBegun, watchOwner });
      if (request.kind !== 'read') answered.add(requestId, null, attempt, latestStartMs);
      if (request.kind === 'write') send(tabId, this.statusMessage());
      send(tabId, { kind: 'answer', requestId, answer });
    } catch (thrown) {
      if (thrown instanceof ReadInterrupted) return; // The author repeats its request to the next leader.
      const error = encodeError(thrown);
      if (request.kind !== 'read') answered.add(requestId, error, attempt, latestStartMs);
      send(tabId, { kind: 'refused', requestId, error });
    } finally {
      inProgress.delete(requestId);
    }
  }

  announce(): void {
    this.cancelTellingStatus?.();
    this.cancelTellingStatus = null;
    const { tabId, schema, migrationCount, sharesFiles, tabOptions } = this.options;
    this.options.post({
      kind: 'leader',
      tabId,
      ...this.position,
      schema,
      migrationCount,
      status: this.status,
      statusNumber: this.statusNumber,
      sharesFiles,
      tabOptions,
    });
  }

  /** Restarts the work after commits were undone, because its knowledge of the database may be outdated. */
  async startAnew(): Promise<void> {
    const before = this.work;
    this.work = this.startWork();
    await before.stop();
  }

  /** Runs requests that wait for an open transaction; the transaction itself is lost. Repeats nothing from now on. */
  stop(): Promise<void> {
    this.cancelTellingAgain?.();
    this.cancelTellingStatus?.();
    // So that neither the commits of waiting requests nor the last status starts a timer.
    this.cancelTellingAgain = this.cancelTellingStatus = (): void => undefined;
    this.transactions.stop();
    return this.work.stop();
  }

  private commit(request: WriteRequest, { latestStartMs, onBegun }: Asked): Promise<readonly StatementOutcome[]> {
    const settled = Promise.withResolvers<readonly StatementOutcome[]>();
    const job = (): void => {
      try {
        if (this.options.clock.nowMs() > latestStartMs)
          throw new RockpoolError('leader-unreachable', { problem: 'the leader was elected too late' });
        onBegun();
        settled.resolve(this.writeNow(request));
      } catch (thrown) {
        settled.reject(thrown);
      }
    };
    if (this.commitsOpen(request)) job();
    else this.writerQueue.take(job);
    return settled.promise;
  }

  /** The open transaction already holds the writer, so its commit does not wait. */
  private commitsOpen({ id, action }: WriteRequest): boolean {
    return action?.kind === 'commit-transaction' && this.transactions.isOpen(id);
  }

  private writeNow(request: WriteRequest): Promise<readonly StatementOutcome[]> {
    const { id, action } = request;
    if (this.commitsOpen(request)) return this.transactions.commit(id, (outcome) => this.keep(outcome));
    const reason = action?.kind === 'commit-transaction' ? this.transactions.whyEnded(id) : null;
    if (reason !== null) throw reason;
    const { readOnly, sentUpTo } = this.status;
    // Not connected: the server may already have the new merge rules. It would refuse the older schema and never decide
    // the retry, and the migration would wait forever.
    const isUndecidable =
      action?.kind === 'retry-rejected' && readOnly?.code === 'migration-refused' && sentUpTo === null;
    if (action?.kind === 'withdraw' && this.work.withdraw) return this.keep(this.work.withdraw(action.id));
    const refusal = isUndecidable ? RockpoolError.fromData(readOnly) : undefined;
    return this.keep(this.options.opened.database.write(request, refusal));
  }

  /**
   * Waits until the commit is stored, and flushed if strict durability requires that. Then reports the commit and
   * returns its results. Call it in the task of the commit.
   */
  private async keep({
    results,
    touchedTables: tables,
    changes,
    repeated,
  }: ServedOutcome): Promise<readonly StatementOutcome[]> {
    const { committed, flushed } = this.options.opened;
    if (committed) await committed();
    try {
      // Runs before sync is notified of the commit, because sync flushes what it sends, one commit after another.
      if (flushed) await flushed();
    } finally {
      // Reports the write even after a failed flush, which does not revert it.
      if (!repeated) {
        this.tellCommit({ tables, changes });
        this.work.onLocalCommit();
      }
    }
    return results;
  }

  private startWork(): LeaderWork {
    const { opened, startWork } = this.options;
    const { database, committed } = opened;
    return startWork({
      database,
      ...(committed !== undefined && { committed }),
      publishCommit: (touched) => this.publishCommit(touched),
      publishStatus: (status) => this.publishStatus(status),
      publishProblem: this.options.onProblem,
      inTurn: (job) => this.writerQueue.take(job),
    });
  }

  private publishCommit(touched: TouchedTables): void {
    const { committed } = this.options.opened;
    const tell = (): void => this.tellCommit(touched);
    if (committed === undefined) return tell();
    committed().then(
      tell,
      // Tabs are not notified of an undone commit. `work` must not retry it at once: the medium may still be full.
      (error: RockpoolError) => this.work.onRefused?.(error),
    );
  }

  private tellCommit(touched: TouchedTables): void {
    if (touched.tables.length === 0) return;
    this.commitNumber++;
    const notice = { ...this.position, ...touched };
    if (this.options.hasFollowers()) this.options.post({ kind: 'commit', ...notice });
    this.options.onCommit(notice);
    this.cancelTellingAgain ??= this.options.clock.after(NOTICE_REPEAT_MS, () => this.tellAgain());
  }

  private tellAgain(): void {
    this.cancelTellingAgain = null;
    this.options.post({ kind: 'position', ...this.position });
  }

  private publishStatus(status: Omit<LeaderStatus, 'readOnly'>): void {
    this.status = { ...status, readOnly: this.status.readOnly };
    this.statusNumber++;
    this.options.onStatus(this.status);
    this.cancelTellingStatus ??= this.options.clock.after(
      this.options.hasFollowers() ? STATUS_EVERY_MS : NOTICE_REPEAT_MS,
      () => this.tellStatus(),
    );
  }

  private tellStatus(): void {
    this.cancelTellingStatus = null;
    this.options.post(this.statusMessage());
  }

  private statusMessage(): StatusMessage {
    return { kind: 'status', leaderTerm: this.leaderTerm, statusNumber: this.statusNumber, status: this.status };
  }
}

/** The author of a request, and its deadline. */
interface Asked {
  /** Wall time in ms. */
  readonly latestStartMs: number;
  /** Called before a write runs. */
  readonly onBegun: () => void;
  readonly watchOwner: WatchOwner;
}

/** Requests of this tab end with the tab. */
const IN_THIS_TAB: Asked = {
  latestStartMs: Number.POSITIVE_INFINITY,
  onBegun: () => undefined,
  watchOwner: () => () => undefined,
};
