import { RockpoolError, toRockpoolError, type ErrorData } from '@rockpool/shared';
import { FINAL_ERRORS } from '../../rpc/final-errors.ts';
import type { Touched } from '../../rpc/query-dependencies.ts';
import type { Reads } from '../../rpc/reads.ts';
import type { SnapshotProgress } from '../../rpc/snapshot-progress.ts';
import type { SqlStatement, StatementOutcome } from '../../rpc/sql-statement.ts';
import type { TransactionAsk } from '../../rpc/transaction-ask.ts';
import type { WriteAction } from '../../rpc/write-action.ts';
import type { TabRole } from '../../rpc/sync-status.ts';
import type { ChannelMessage, LeaderMessage, LeaderRequest, LeaderStatus, StatusMessage } from './channel-message.ts';
import type { Clock } from './clock.ts';
import { createCommitFollower, type CommitPosition } from '../invalidate/commit-notice.ts';
import { compareSchemas, firstUnknownColumn, type TabSchema } from './compare-schemas.ts';
import { createElection, type Locks } from './election.ts';
import { Leadership, type LeaderTools, type LeaderWork, type WritableDatabase } from './leadership.ts';
import { createLifeLocks } from './life-locks.ts';
import { createLeaderLink, REQUEST_DEADLINE_MS, type LeaderLink } from './leader-link.ts';
import { waitForLeader, type LeaderWait } from './leader-wait.ts';
import { forwardedReads } from './forwarded-reads.ts';
import type { OpenedDatabase } from './opened-database.ts';
import { openTabChannel, type BroadcastPort, type TabChannel } from './tab-channel.ts';
import { optionsProblem, type TabOptions } from './tab-options.ts';
import { createTabReads, type TabReads } from './tab-reads.ts';

/*
 * One tab among those that share a database.
 *
 *              join                      the lock is free
 *   away ────────────────▶ asking ─────────────────────────────▶ leader
 *    ▲                       │ a leader has announced itself        ▲ │
 *    │                       ▼                                      │ │ opening failed: try again later
 *    └──────────────────  follower ──── the lock comes to this tab ─┘ ▼
 *          leave (hidden, frozen, closed, outdated)                  away
 *
 * 1. Only the holder of the lock opens the database as a writer. It closes the database before it releases the lock.
 * 2. A follower opens as a reader only after a leader has announced itself: then the file exists and its tables are up
 *    to date. If only the leader can open the files, a follower opens nothing and reads through the leader.
 * 3. Unanswered requests are sent again to every new leader under the same id, so a write happens once, regardless of
 *    which tab dies when.
 * 4. Changes of role run one after the other (`steps`), never between the start of a write and its COMMIT. A
 *    transaction of several calls ends with the leadership under which it began; writes that waited for its end run
 *    before that.
 */

export interface MembershipOptions<Database extends WritableDatabase> {
  /** Part of the names of the lock and the channel. */
  readonly scope: string;
  /** This tab's schema, as encoded by `encodeSchema`. */
  readonly schema: string;
  /** The number of this bundle's migrations; 0 if it has none. */
  readonly migrationCount: number;
  readonly tabOptions: TabOptions;
  readonly initialStatus: LeaderStatus;
  readonly locks: Locks;
  readonly openPort: (channelName: string) => BroadcastPort;
  readonly clock: Clock;
  readonly newId: () => string;
  /** Whether several tabs may open the files, one of them as the writer. */
  readonly sharesFiles: boolean;
  /**
   * `onUndone` is called when the medium has rejected a commit that had returned; that commit and all later ones are
   * undone.
   */
  readonly openDatabase: (role: 'writer' | 'reader', onUndone: () => void) => Promise<OpenedDatabase<Database>>;
  readonly startWork: (tools: LeaderTools<Database>) => LeaderWork;
  readonly onTouched: (touched: Touched) => void;
  /** Called while another tab fills the database before it leads. */
  readonly onFirstSync: (progress: SnapshotProgress) => void;
  readonly onStatus: (status: LeaderStatus, role: TabRole) => void;
  /** Called for a failure that no call waits for. */
  readonly onProblem: (error: RockpoolError) => void;
  /** Called when this tab can no longer take part; all further requests fail with this error. */
  readonly onEnded: (error: RockpoolError) => void;
}

/** Retry delays after a failed take-over, from one second, doubled up to half a minute. */
const FIRST_RETRY_MS = 1_000;
const LAST_RETRY_MS = 30_000;

export class Membership<Database extends WritableDatabase> {
  /** Waits while this tab cannot read, because its role changes or its page is suspended. */
  readonly reads: TabReads = createTabReads();
  // The constructor sets these fields; a declaration adds nothing to the worker's code.
  declare private readonly options: MembershipOptions<Database>;
  declare private readonly tabId: string;
  declare private readonly election: ReturnType<typeof createElection>;
  declare private readonly link: LeaderLink;
  declare private readonly transactionLocks: ReturnType<typeof createLifeLocks>;
  private readonly commits = createCommitFollower();
  /** Through the leader, for media where only one tab may open the files. */
  declare private readonly remoteReads: Reads;
  private readonly writing = new Set<Promise<unknown>>();
  private channel: TabChannel | null = null;
  private opened: OpenedDatabase<Database> | null = null;
  /** Whether another tab has sent a message since this one began to lead or to take over. */
  private hasFollowers = false;
  private leadership: Leadership<Database> | null = null;
  private leaderTerm: string | null = null;
  private newestStatus = -1;
  private leaderWait: LeaderWait | null = null;
  private ended: RockpoolError | null = null;
  private isAway = true;
  declare private status: LeaderStatus;
  private isHidden = false;
  /**
   * The last wait for the lock, even after this tab has become the leader. Null until it first follows, and after it
   * leaves.
   */
  private turn: Promise<boolean> | null = null;
  private retryMs = FIRST_RETRY_MS;
  private cancelRetry: () => void = () => undefined;
  private steps: Promise<unknown> = Promise.resolve();

  constructor(options: MembershipOptions<Database>) {
    this.options = options;
    this.status = options.initialStatus;
    this.tabId = options.newId();
    this.election = createElection(options.locks, `rockpool:${options.scope}:leader`);
    this.link = createLeaderLink({
      clock: options.clock,
      newRequestId: options.newId,
      send: (to, message) => this.channel?.send(to, { ...message, tabId: this.tabId }),
    });
    this.transactionLocks = createLifeLocks(options.locks, `rockpool:${options.scope}:transaction`, options.onProblem);
    this.remoteReads = forwardedReads((call) => this.link.ask(call));
  }

  /** Joins. Resolves when reading and writing work; rejects if they cannot. */
  async open(): Promise<void> {
    try {
      await this.step(() => this.join());
    } catch (thrown) {
      await this.end(toRockpoolError(thrown)).catch(this.tellProblem);
    }
    if (this.ended !== null) throw this.ended;
  }

  /** Runs one step of a transaction, in this worker or the leader's. */
  async transact(transactionId: string, ask: TransactionAsk): Promise<StatementOutcome | null> {
    const { transactionLocks } = this;
    if (ask.kind === 'begin') await transactionLocks.hold(transactionId);
    try {
      return (await this.carryOut({ kind: 'step', transactionId, ask })) as StatementOutcome | null;
    } catch (thrown) {
      if (ask.kind === 'begin') transactionLocks.release(transactionId);
      throw thrown;
    } finally {
      if (ask.kind === 'rollback') transactionLocks.release(transactionId);
    }
  }

  /** Commits a transaction once. Rejects with `transaction-lost` and others if it was rolled back. */
  async commit(transactionId: string): Promise<void> {
    try {
      await this.write([], { kind: 'commit-transaction', transactionId }, transactionId);
    } finally {
      this.transactionLocks.release(transactionId);
    }
  }

  /** Reports the progress of a download to the other tabs. */
  tellFirstSync(progress: SnapshotProgress): void {
    this.channel?.post({ kind: 'first-sync', ...progress });
  }

  /** Called while the database opens: tabs that wait for the leader wait for the full time again. */
  tellOpening(): void {
    if (this.leadership === null) this.tellFirstSync({ receivedBytes: 0, totalBytes: 0 });
  }

  /** Runs the statements as one transaction, in this worker or the leader's. */
  write(
    statements: readonly SqlStatement[],
    action?: WriteAction,
    requestId?: string,
  ): Promise<readonly StatementOutcome[]> {
    const writing = this.carryOut({ kind: 'write', statements, ...(action && { action }) }, requestId) as Promise<
      readonly StatementOutcome[]
    >;
    this.writing.add(writing);
    const remove = (): void => void this.writing.delete(writing);
    writing.then(remove, remove);
    return writing;
  }

  /** Retries sync at once, in the tab that runs it. */
  async syncNow(): Promise<void> {
    await this.carryOut({ kind: 'sync-now' });
  }

  /**
   * Called when the page is suspended. Releases lock, channel and files after `streamsClosed` has settled; requests
   * wait for `resume`, which may be called before that.
   */
  suspend(streamsClosed: Promise<void> = Promise.resolve()): Promise<void> {
    this.isHidden = true;
    this.cancelRetry();
    this.link.pause();
    // A step may wait for the leader, and a suspended page would hold up the other tabs if it were granted the lock.
    this.election.stopWaiting();
    return this.step(async () => {
      await streamsClosed.catch(this.tellProblem);
      await this.leave();
    });
  }

  async resume(): Promise<void> {
    if (this.ended !== null) return;
    this.isHidden = false;
    this.link.renewDeadlines();
    await this.step(() => this.join()).catch((thrown: unknown) => this.retryLater(thrown));
    // Commit notices may have been missed while the page was suspended.
    this.options.onTouched('all');
  }

  /** Waits for pending writes, then leaves. */
  async close(): Promise<void> {
    if (this.ended === null && !this.isHidden) {
      const deadline = Promise.withResolvers<void>();
      const cancelDeadline = this.options.clock.after(REQUEST_DEADLINE_MS, deadline.resolve);
      await Promise.race([Promise.allSettled(this.writing), deadline.promise]);
      cancelDeadline();
    }
    await this.end(new RockpoolError('client-closed'));
  }

  private async carryOut(request: LeaderRequest, requestId: string = this.options.newId()): Promise<unknown> {
    await this.reads.whenReadable();
    return this.leadership?.carryOut(requestId, request) ?? this.link.ask(request, requestId);
  }

  private step<T>(run: () => Promise<T>): Promise<T> {
    const result = this.steps.then(run);
    this.steps = result.catch(() => undefined);
    return result;
  }

  private async join(): Promise<void> {
    if (this.ended !== null || this.isHidden || !this.isAway) return;
    this.isAway = false;
    this.leaderTerm = null;
    const { scope, openPort } = this.options;
    this.channel = openTabChannel({
      scope,
      tabId: this.tabId,
      openPort,
      onMessage: (message) => this.onMessage(message),
      onNewerProtocol: (protocol) => this.endUnasked(new RockpoolError('tab-outdated', { channelProtocol: protocol })),
    });
    if (await this.election.tryNow()) await this.lead();
    else if (!this.isHidden) await this.follow();
    this.retryMs = FIRST_RETRY_MS;
  }

  private async follow(): Promise<void> {
    const turn = (this.turn = this.election.waitForTurn());
    const wait = (this.leaderWait = waitForLeader({
      clock: this.options.clock,
      sayHello: () => this.sayHello(),
      onSilence: (error) => {
        this.options.onProblem(error);
        this.tellAway(error.toData());
      },
    }));
    const granted = turn.then((leads) => (leads ? 'turn' : 'withdrawn'));
    const first = await Promise.race([wait.announced, granted]).finally(() => {
      wait.stop();
      this.leaderWait = null;
    });

    if (first === 'turn') return this.lead();
    if (first === 'withdrawn' || this.ended !== null) return;
    if (first.sharesFiles && this.options.sharesFiles)
      this.opened = await this.options.openDatabase('reader', () => undefined);
    this.reads.readFrom(this.opened?.reads ?? this.remoteReads);
    turn.then(
      (leads) =>
        void (leads && this.step(() => this.succeed(turn)).catch((thrown: unknown) => this.retryLater(thrown))),
      this.tellProblem,
    );
  }

  /** Takes over after the lock was granted to this follower, unless it has left since, and perhaps joined again. */
  private async succeed(turn: Promise<boolean>): Promise<void> {
    if (this.turn === turn) await this.lead();
  }

  /** Opens the database as the writer, and leads. This tab must hold the lock. */
  private async lead(): Promise<void> {
    const { options, link, opened: asFollower } = this;
    this.hasFollowers = false; // The remaining tabs say hello to the new leader.
    link.onLeaderGone();
    this.tellOpening();
    const opened = await options.openDatabase('writer', () => this.onUndone());
    if (this.ended !== null) return opened.close({ handsOver: true });
    this.opened = opened;
    const leadership = new Leadership<Database>({
      leaderTerm: options.newId(),
      tabId: this.tabId,
      opened,
      sharesFiles: options.sharesFiles,
      schema: options.schema,
      migrationCount: options.migrationCount,
      tabOptions: options.tabOptions,
      initialStatus: options.initialStatus,
      clock: options.clock,
      hasFollowers: () => this.hasFollowers,
      watchOwner: (transactionId, onGone) => this.transactionLocks.watch(transactionId, onGone),
      post: (message) => this.channel?.post(message),
      send: (to, message) => this.channel?.send(to, message),
      startWork: options.startWork,
      onCommit: (notice) => this.observe(this.commits.observe(notice)),
      onStatus: (status) => this.tellStatus(status, 'leader'),
      onProblem: options.onProblem,
    });
    this.leadership = leadership;
    this.leaderTerm = leadership.leaderTerm;
    // Waiting requests of this tab run before its later writes.
    link.runWaiting((id, request) => leadership.carryOut(id, request));
    this.reads.readFrom(leadership.reads);
    leadership.announce();
    this.observe(this.commits.observePosition(leadership.position));
    this.tellStatus(leadership.currentStatus, 'leader');
    // Up to this point, reads have continued on the reader.
    await asFollower?.close({ handsOver: false });
  }

  private onMessage(message: ChannelMessage): void {
    switch (message.kind) {
      case 'hello':
        if (this.isOlderThan(message)) return this.makeRoom();
        this.hasFollowers = true;
        return this.leadership?.announce();
      case 'leader':
        return this.onLeader(message);
      case 'commit':
        return this.observe(this.commits.observe(message));
      case 'position':
        return this.hearPosition(message);
      case 'first-sync':
        this.leaderWait?.onSign();
        // Without a total, the message only shows that the tab is alive.
        if (message.totalBytes > 0) this.options.onFirstSync(message);
        return;
      case 'status':
        return this.hearStatus(message);
      case 'ask':
        this.hasFollowers = true;
        return void this.leadership?.serve(message);
      case 'begun':
      case 'answer':
      case 'refused':
        return this.link.onAnswer(message);
    }
  }

  /** Merge rules alone do not show which bundle is newer; the file of the leader does. */
  private isOlderThan(message: TabSchema): boolean {
    const comparison = compareSchemas(this.options, message);
    if (comparison !== 'same' || this.leadership === null) return comparison === 'theirs-is-newer';
    return this.opened?.database.hasOlderRulesThan?.(message.schema) === true;
  }

  private onLeader(message: LeaderMessage): void {
    if (this.leadership !== null) return; // A late message from a former leader.
    const comparison = compareSchemas(this.options, message);
    if (comparison === 'mine-is-newer') return; // That tab has received this tab's hello and is closing.
    if (comparison === 'theirs-is-newer') return this.makeRoom();
    if (comparison === 'incompatible')
      return this.endUnasked(
        new RockpoolError('schema-incompatible', {
          comparedWith: 'the schema of the leader tab',
          ...firstUnknownColumn(this.options, message),
          problem: 'the leader tab does not have this column',
        }),
      );

    const problem = optionsProblem(this.options.tabOptions, message.tabOptions);
    if (problem !== null) return this.endUnasked(problem);

    if (message.leaderTerm !== this.leaderTerm) {
      this.leaderTerm = message.leaderTerm;
      this.newestStatus = -1;
      this.link.onNewLeader(message);
      this.sayHello();
      // It may have run a migration that waited, and a reader keeps the schema with which it was opened.
      if (this.status.readOnly !== null) this.step(() => this.reopenReader()).catch(this.tellProblem);
    }
    this.leaderWait?.onAnnounced(message);
    this.observe(this.commits.observePosition(message));
    this.hearStatus(message);
  }

  private async reopenReader(): Promise<void> {
    const { opened, leadership, options } = this;
    if (opened === null || leadership !== null) return;
    this.opened = await options.openDatabase('reader', () => undefined);
    this.reads.readFrom(this.opened.reads);
    options.onTouched('all');
    await opened.close({ handsOver: false });
  }

  /** Says hello if a notice was missed, because this tab may not be registered with the leader. */
  private hearPosition(position: CommitPosition): void {
    const touched = this.commits.observePosition(position);
    if (touched !== null) this.sayHello();
    this.observe(touched);
  }

  private sayHello(): void {
    const { schema, migrationCount } = this.options;
    this.channel?.post({ kind: 'hello', schema, migrationCount });
  }

  /** The status arrives by two paths, in either order. */
  private hearStatus({
    leaderTerm,
    statusNumber,
    status,
  }: Pick<StatusMessage, 'leaderTerm' | 'statusNumber' | 'status'>): void {
    if (leaderTerm !== this.leaderTerm || statusNumber < this.newestStatus) return;
    this.newestStatus = statusNumber;
    // A leader of an older bundle does not send the newer fields.
    this.tellStatus({ ...this.options.initialStatus, ...status }, 'follower');
  }

  /** The status keeps the reason for which this tab left. */
  private tellStatus(status: LeaderStatus, role: TabRole): void {
    if (this.ended !== null) return;
    this.status = status;
    // Work that is being stopped may still report after this tab has stopped leading.
    if (role === 'none' || !this.isAway) this.options.onStatus(status, role);
  }

  /** Reports that this tab has no role until it joins again. */
  private tellAway(reason: ErrorData | null): void {
    this.tellStatus(
      { ...this.status, state: 'opening', reason, waitingFor: null, stuck: null, snapshot: null, sentUpTo: null },
      'none',
    );
  }

  private onUndone(): void {
    void this.leadership?.startAnew();
  }

  private readonly tellProblem = (thrown: unknown): void => this.options.onProblem(toRockpoolError(thrown));

  private observe(touched: Touched | null): void {
    if (touched !== null) this.options.onTouched(touched);
  }

  private makeRoom(): void {
    this.endUnasked(new RockpoolError('tab-outdated', { newerSchema: true }));
  }

  /** Ends this tab because of a message from another tab. No call waits for the error. */
  private endUnasked(error: RockpoolError): void {
    this.end(error).catch(this.tellProblem);
  }

  private async end(error: RockpoolError): Promise<void> {
    if (this.ended === null) {
      this.ended = error;
      this.cancelRetry();
      this.link.fail(error);
      this.reads.fail(error);
      this.election.stopWaiting(); // A queued step may be waiting for the lock.
      this.options.onEnded(error);
    }
    await this.step(() => this.leave());
  }

  /**
   * Rejects if the database could not be closed cleanly, for example after a failed flush. Another tab may lead anyway.
   */
  private async leave(): Promise<void> {
    this.isAway = true;
    this.turn = null;
    const { leadership } = this;
    this.leadership = null;
    this.transactionLocks.releaseAll(); // Transactions at another leader are lost: no request can be sent.
    try {
      await this.letGo(leadership);
    } finally {
      await this.election.withdraw();
      this.channel?.close();
      this.channel = null;
      this.tellAway(null);
    }
  }

  private async letGo(leadership: Leadership<Database> | null): Promise<void> {
    try {
      await leadership?.stop();
    } finally {
      const { opened } = this;
      this.opened = null;
      this.reads.pause();
      await opened?.close({ handsOver: leadership !== null && this.hasFollowers });
    }
  }

  /** Called when taking over or resuming has failed: lets other tabs try first, then retries. */
  private async retryLater(thrown: unknown): Promise<void> {
    if (this.ended !== null) return;
    const error = toRockpoolError(thrown);
    if (FINAL_ERRORS.has(error.code)) return this.end(error).catch(this.tellProblem);
    this.options.onProblem(error);
    await this.step(() => this.leave()).catch(this.tellProblem);
    const { code, fields } = error;
    this.tellAway(
      new RockpoolError(code, { ...fields, nextAttemptMs: this.options.clock.nowMs() + this.retryMs }).toData(),
    );
    this.cancelRetry = this.options.clock.after(this.retryMs, () => {
      this.step(() => this.join()).catch((again: unknown) => this.retryLater(again));
    });
    this.retryMs = Math.min(2 * this.retryMs, LAST_RETRY_MS);
  }
}
