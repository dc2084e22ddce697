import { AUDIT_TIMES, createIdleAudit, type AuditTimes } from '../audit/idle-audit.ts';
import type { AuditDatabase } from '../audit/audit-database.ts';
import { createSteadyClock, encodeChangesetBody, PROTOCOL_VERSION, PUSH_BYTES, RockpoolError, toRockpoolError, type ChangeGroup, type Delivery, type PushedChangeset, type Welcome } from '@rockpool/shared';
import type { SnapshotFile } from '../apply/apply-delivery.ts';
import type { PresenceLine } from '../presence/site-presence.ts';
import type { SnapshotProgress } from '../../rpc/snapshot-progress.ts';
import type { WelcomeVerdict } from './judge-welcome.ts';
import { asksReload, INITIAL_STATE, mayPush, nextStep, type Effect, type MachineEvent, type MachineState } from './sync-machine.ts';
import { syncReport, type OutboxCounts, type SyncReport } from './sync-status.ts';
import type { Connect, ServerConnection } from './web-socket.ts';

/** How far this database is, durably. */
export interface SyncPosition {
  /** Null before the first welcome. */
  readonly epoch: Uint8Array | null;
  readonly cursor: number;
  /** See Hello. */
  readonly cursorLink: Uint8Array;
  /** The last of its changesets whose outcome is applied. */
  readonly decidedUpTo: number;
  /** The hash of that one; zeros for none. */
  readonly decidedHash: Uint8Array;
  readonly lastSequence: number;
  /** News alone would not make these rows the server's. */
  readonly reload: boolean;
}

/** Changesets in order, and the hash of the one before them. */
export interface PushBatch {
  readonly previousHash: Uint8Array;
  /** See Push. */
  readonly olderEpochUpTo: number;
  readonly changesets: readonly PushedChangeset[];
}

/** What sync needs of the local database. All synchronous, on the leader's one connection. */
export interface SyncDatabase {
  readonly siteId: Uint8Array;
  readonly schemaHash: string;
  position(): SyncPosition;
  /** How the server's welcome fits what is here. Remembers the epoch of its log. */
  greet(welcome: Welcome): WelcomeVerdict;
  /** The server's clock shows this now, ms since 1970. */
  noteServerTime(serverNowMs: number): void;
  /** One transaction: a new site id, the changesets from `firstOwn` on numbered from 1. See new-site.ts. */
  becomeNewSite(firstOwn: number): void;
  /** Changesets after `sequence`, up to about `maxBytes`, at least one if there is any; null when there is none. */
  nextPush(sequence: number, maxBytes: number): PushBatch | null;
  /** One transaction: outcomes, rows, cursor. `snapshot`: the file that was named in the hello. Throws, and changes nothing, when it cannot. Returns whether the outbox has something new: edits made anew. */
  applyDelivery(delivery: Delivery, snapshot?: SnapshotFile | null): boolean;
  readonly audit: AuditDatabase;
  counts(): OutboxCounts;
  /** Somebody has paused sync. */
  readonly isPaused: boolean;
  /** Makes all commits so far survive power loss. */
  flush(): void;
}

/** Where a whole state is to be had as a file. */
export interface SnapshotSource {
  /**
   * Gets the file that the server offers, in the place of the one before. Null: there is none to be had here. Throws `network-unreachable` where it does not come to its
   * end, and then goes on there the next time; and `storage-…`.
   */
  take(onProgress: (progress: SnapshotProgress) => void, signal: AbortSignal): Promise<SnapshotFile | null>;
  /** Takes the file away. */
  discard(): Promise<void>;
}

export interface SyncEngineOptions {
  readonly url: string;
  readonly databaseId: string;
  readonly token: () => Promise<string>;
  readonly database: SyncDatabase;
  readonly connect: Connect;
  /** Default: nobody takes part. */
  readonly presence?: PresenceLine;
  readonly onReport: (report: SyncReport) => void;
  /** Something to tell the user that ends no connection. */
  readonly onProblem: (error: RockpoolError) => void;
  /** Runs what uses the database: now, or when the transaction that a tab has open is over. Default: now. */
  readonly inTurn?: (job: () => void) => void;
  /** Default: a whole state comes as deliveries. */
  readonly snapshots?: SnapshotSource;
  /** A file comes. */
  readonly onSnapshotProgress?: (progress: SnapshotProgress) => void;
  /** Only a new worker can help. */
  readonly onStuck: () => void;
  /** See idle-audit.ts. */
  readonly auditTimes?: AuditTimes;
  readonly nowMs?: () => number;
  readonly random?: () => number;
}

export interface SyncEngine {
  start(): void;
  /** The outbox has something new, or somebody has paused or resumed sync. */
  committed(): void;
  /** Try at once instead of at the next attempt: the device is online again, or a person asked. */
  tryNow(): void;
  /** Disconnects and stays so. */
  stop(): void;
}

/** Sent and not yet decided at most: enough to fill a connection, little enough to start over cheaply. */
const WINDOW_BYTES = 4 * PUSH_BYTES;

/** A confirmation may wait for more of its kind: it only lets the server forget. */
const CONFIRM_DELAY_MS = 1_000;

/** A log can be put back while a file comes, and once more; a server that never takes its own files has to send deliveries. */
const MOST_FILES_IN_A_ROW = 3;

// setTimeout holds 31 bits; a later wake simply looks again.
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Runs sync-machine.ts: timers, token, socket, outbox and apply. One per leader. */
export function createSyncEngine(options: SyncEngineOptions): SyncEngine {
  const { database, connect, presence, url, databaseId, token } = options;
  const nowMs = options.nowMs ?? Date.now;
  const inTurn = options.inTurn ?? ((job) => job());
  const steadyMs = createSteadyClock(nowMs, () => performance.now());
  const random = options.random ?? Math.random;
  let state: MachineState = INITIAL_STATE;
  let connection: ServerConnection | null = null;
  let wakeTimer: ReturnType<typeof setTimeout> | undefined;
  let confirmTimer: ReturnType<typeof setTimeout> | undefined;
  // Sizes of sent changesets that are not decided, by number.
  let inFlight = new Map<number, number>();
  // Answers of an earlier attempt to connect must not reach a later one.
  let attempt = 0;
  // Rows of the delivery that is coming.
  let staged: ChangeGroup[] = [];
  // The file that the next hello names.
  let snapshot: SnapshotFile | null = null;
  // Not after an attempt that got nowhere, until there was a connection: then rows come as deliveries.
  let takesSnapshots = options.snapshots !== undefined;
  let taking: AbortController | null = null;
  // Files since the last delivery.
  let filesInARow = 0;
  // How often another connection took the place of this one while it was live.
  let timesReplaced = 0;
  // As they were last read.
  let counts: OutboxCounts = { pendingCount: 0, parkedCount: 0 };

  const audit = createIdleAudit({
    database: database.audit,
    nowMs: steadyMs,
    times: options.auditTimes ?? AUDIT_TIMES,
    send: (message) => connection?.send(message),
    inTurn,
    onDiverged: options.onProblem,
    onUnrepaired: (error) => dispatch({ type: 'diverged', error: error.toData() }),
    onFailed: (thrown) => dispatch({ type: 'failed', error: toRockpoolError(thrown).toData() }),
  });

  function dispatch(event: MachineEvent): void {
    const step = nextStep(state, event, { nowMs: steadyMs(), wallMs: nowMs(), random: random() });
    state = step.state;
    for (const effect of step.effects) run(effect);
    clearTimeout(wakeTimer);
    if (state.wakeAtMs !== null) {
      wakeTimer = setTimeout(() => dispatch({ type: 'wake' }), Math.min(Math.max(0, state.wakeAtMs - steadyMs()), LONGEST_TIMER_MS));
    }
    report();
  }

  function report(): void {
    counts = countsNow();
    options.onReport(syncReport(state, counts, nowMs() - steadyMs()));
  }

  /** A database that cannot be read any more, since the browser closed its storage, must not keep from the user what has failed. */
  function countsNow(): OutboxCounts {
    try {
      return database.counts();
    } catch {
      return counts;
    }
  }

  function run(effect: Effect): void {
    switch (effect.type) {
      case 'connect':
        void openConnection(++attempt);
        break;
      case 'disconnect':
        attempt++;
        connection?.close();
        connection = null;
        inFlight = new Map();
        staged = [];
        clearTimeout(confirmTimer);
        confirmTimer = undefined;
        taking?.abort();
        taking = null;
        audit.stop();
        presence?.disconnected();
        break;
      case 'take-snapshot':
        if (options.snapshots !== undefined) void takeSnapshot(options.snapshots, attempt);
        break;
      case 'ping':
        connection?.send({ type: 'ping' });
        break;
      case 'push':
        // A welcome that does not fit is dealt with first.
        if (mayPush(state)) guarded(() => push(effect.after));
        break;
      case 'welcome':
        guarded(() => greet(effect.welcome));
        break;
      case 'note-server-time':
        guarded(() => database.noteServerTime(effect.serverNowMs));
        break;
      case 'audit-answer':
        guarded(() => audit.answered(effect.answer));
        break;
      case 'presence':
        presence?.heard(effect.news);
        break;
      case 'apply':
        apply(effect.delivery);
        break;
      case 'stage':
        for (const group of effect.part.groups) staged.push(group);
        break;
      case 'restart':
        options.onStuck();
        break;
      case 'become-new-site':
        guarded(() => changeSite(effect.firstOwn));
        break;
    }
  }

  /** A failure of our own side ends the connection like any other, with its reason in the status. */
  function guarded(work: () => void): void {
    try {
      work();
    } catch (thrown) {
      dispatch({ type: 'failed', error: toRockpoolError(thrown).toData() });
    }
  }

  async function openConnection(mine: number): Promise<void> {
    let credentials: string;
    try {
      credentials = await token();
    } catch (thrown) {
      const error = thrown instanceof RockpoolError ? thrown : new RockpoolError('network-unreachable', { stage: 'token' }, { cause: thrown });
      if (mine === attempt) dispatch({ type: 'failed', error: error.toData() });
      return;
    }
    if (mine !== attempt) return;
    const opened = connect(url, {
      onOpen() {
        if (mine !== attempt) return;
        const position = database.position();
        opened.send({ type: 'hello', protocolVersion: PROTOCOL_VERSION, token: credentials, databaseId, siteId: database.siteId, schemaHash: database.schemaHash, ...position, reload: position.reload || asksReload(state), snapshot: snapshot?.position ?? (takesSnapshots ? 'accepted' : 'refused') });
        dispatch({ type: 'hello-sent', decidedUpTo: position.decidedUpTo });
      },
      onMessage: (message) => inTurn(() => {
        if (mine !== attempt) return;
        const isReplaced = state.phase === 'live' && message.type === 'failure' && message.code === 'session-replaced';
        dispatch({ type: 'message', message });
        if (isReplaced) guarded(replaced);
      }),
      onFailed(error) {
        if (mine === attempt) dispatch({ type: 'failed', error });
      },
    });
    connection = opened;
  }

  async function takeSnapshot(source: SnapshotSource, mine: number): Promise<void> {
    const stop = new AbortController();
    taking = stop;
    let hasMoved = false;
    filesInARow++;
    const onProgress = (progress: SnapshotProgress): void => {
      if (mine !== attempt) return;
      hasMoved = true;
      options.onSnapshotProgress?.(progress);
      dispatch({ type: 'snapshot-progress' });
    };
    try {
      snapshot = null;
      const taken = await source.take(onProgress, stop.signal);
      if (mine !== attempt) return;
      const isTooMany = filesInARow > MOST_FILES_IN_A_ROW;
      snapshot = isTooMany ? null : taken;
      takesSnapshots = snapshot !== null;
      dispatch({ type: 'snapshot-taken' });
    } catch (thrown) {
      const error = toRockpoolError(thrown);
      takesSnapshots = hasMoved && (stop.signal.aborted || error.recovery === 'retry');
      // What does not come as a file comes as deliveries, at once.
      if (mine === attempt) dispatch(takesSnapshots ? { type: 'failed', error: error.toData() } : { type: 'snapshot-taken' });
    }
  }

  function discardSnapshot(): void {
    takesSnapshots = options.snapshots !== undefined;
    filesInARow = 0;
    if (snapshot === null) return;
    snapshot = null;
    void options.snapshots?.discard();
  }

  function greet(welcome: Welcome): void {
    const verdict = database.greet(welcome);
    if (verdict.kind === 'new-site') changeSite(verdict.firstOwn);
    else if (verdict.kind === 'copied') {
      dispatch({ type: 'copied' });
      askWhatDiffers(verdict.pushAfter, welcome);
    } else presence?.connected((states) => connection?.send({ type: 'presence', states }));
  }

  function changeSite(firstOwn: number): void {
    database.becomeNewSite(firstOwn);
    dispatch({ type: 'renumbered' });
  }

  /**
   * This engine has one connection at a time, and the server keeps the newest of a site. To be replaced once may be due to a hello that came late; twice
   * means that a copy of this file is connected as well, and each would throw the other out for ever. Whichever has nothing to send, so that nothing can
   * be counted twice, goes on as another site.
   */
  function replaced(): void {
    timesReplaced++;
    if (timesReplaced < 2 || database.counts().pendingCount > 0) return;
    timesReplaced = 0;
    changeSite(database.position().lastSequence + 1);
  }

  /**
   * Sends what this copy has, for the server to name the first changeset that it knows otherwise. Where it may know all of them, one more is
   * sent under a number that it has given to another: it cannot be taken, but it is answered.
   */
  function askWhatDiffers(after: number, { decidedUpTo, canWrite }: Welcome): void {
    const { lastSequence } = database.position();
    if (!canWrite) throw new RockpoolError('site-copied', { problem: 'the token allows reading only', lastSequence });
    let sentUpTo = after;
    for (;;) {
      const batch = database.nextPush(sentUpTo, PUSH_BYTES);
      if (batch === null) return;
      sentUpTo = batch.changesets.at(-1)?.sequence ?? Infinity;
      const isLast = sentUpTo >= lastSequence;
      sendPush(isLast && decidedUpTo > lastSequence ? { ...batch, changesets: [...batch.changesets, emptyAfter(batch.changesets)] } : batch);
      if (isLast) return;
    }
  }

  function sendPush(batch: PushBatch): void {
    connection?.send({ type: 'push', ...batch });
  }

  function push(after: number): void {
    let sentUpTo = after;
    while (connection !== null && windowBytes() < WINDOW_BYTES) {
      const batch = database.nextPush(sentUpTo, PUSH_BYTES);
      if (batch === null) break;
      // What the server knows of must not vanish here with a power cut: its number would be used again for something else.
      database.flush();
      sendPush(batch);
      for (const { sequence, body } of batch.changesets) {
        inFlight.set(sequence, body.length);
        sentUpTo = sequence;
      }
    }
    if (sentUpTo > after) dispatch({ type: 'pushed', sentUpTo });
  }

  function windowBytes(): number {
    let bytes = 0;
    for (const size of inFlight.values()) bytes += size;
    return bytes;
  }

  function apply(delivery: Delivery): void {
    const groups = [...staged, ...delivery.groups];
    staged = [];
    let hasWritten = false;
    try {
      hasWritten = database.applyDelivery({ ...delivery, groups }, snapshot);
    } catch (thrown) {
      return dispatch({ type: 'apply-failed', error: toRockpoolError(thrown).toData() });
    }
    discardSnapshot();
    dispatch({ type: 'applied' });
    // A delivery that decides nothing sends nothing by itself.
    if (hasWritten) dispatch({ type: 'committed' });
    audit.start();
    audit.disturb();
    for (const sequence of inFlight.keys()) if (sequence <= delivery.decidedUpTo) inFlight.delete(sequence);
    confirmTimer ??= setTimeout(confirm, CONFIRM_DELAY_MS);
  }

  function confirm(): void {
    confirmTimer = undefined;
    guarded(() => {
      // Only what survives power loss may be confirmed: the server forgets the outcomes then.
      database.flush();
      const { cursor, decidedUpTo } = database.position();
      connection?.send({ type: 'confirm', cursor, decidedUpTo });
    });
  }

  return {
    start: () => dispatch({ type: database.isPaused ? 'pause' : 'start' }),
    committed(): void {
      const isPaused = state.phase === 'paused';
      if (state.phase !== 'stopped' && database.isPaused !== isPaused) return dispatch({ type: isPaused ? 'resume' : 'pause' });
      audit.disturb();
      dispatch({ type: 'committed' });
    },
    tryNow: () => dispatch({ type: 'try-now' }),
    stop: () => dispatch({ type: 'stop' }),
  };
}

function emptyAfter(changesets: readonly PushedChangeset[]): PushedChangeset {
  const last = changesets.at(-1);
  const body = encodeChangesetBody({ atomic: false, groups: [], hiddenBases: [] });
  return { sequence: (last?.sequence ?? 0) + 1, stampUs: (last?.stampUs ?? 0) + 1, ageUs: last?.ageUs ?? 0, base: last?.base ?? 0, body };
}
