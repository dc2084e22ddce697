import { AUDIT_TIMES, IdleAudit, type AuditTimes } from '../audit/idle-audit.ts';
import type { AuditDatabase } from '../audit/audit-database.ts';
import {
  createSteadyClock,
  PROTOCOL_VERSION,
  toRockpoolError,
  type ChangeGroup,
  type Delivery,
  type ErrorCode,
  type ErrorFields,
  type RockpoolError,
  type ServerMessage,
  type Welcome,
} from '@rockpool/shared';
import type { SnapshotFile } from '../apply/snapshot-file.ts';
import type { PresenceLine } from '../presence/site-presence.ts';
import type { SnapshotProgress } from '../../rpc/snapshot-progress.ts';
import type { WelcomeVerdict } from './judge-welcome.ts';
import { createOutgoingPushes, type PushSource } from './outgoing-pushes.ts';
import { createSnapshotTaking, type SnapshotSource } from './snapshot-taking.ts';
import {
  asksFullResync,
  INITIAL_STATE,
  mayPush,
  nextStep,
  type Effect,
  type MachineEvent,
  type MachineState,
} from './sync-machine.ts';
import { syncReport, type OutboxCounts, type SyncReport } from './sync-status.ts';
import type { Connect, ServerConnection } from './web-socket.ts';

/** The durable sync position of this database. */
export interface SyncPosition {
  /** See Hello. */
  readonly databaseIdentity: Uint8Array | null;
  /** Null before the first welcome. */
  readonly logEpoch: Uint8Array | null;
  readonly cursor: number;
  /** See Hello. */
  readonly cursorHash: Uint8Array;
  /** Its last changeset with an applied outcome. */
  readonly lastAckedSequence: number;
  /** The hash of that one; zeros for none. */
  readonly decidedHash: Uint8Array;
  readonly lastSequence: number;
  /** Incremental deliveries would not make these rows equal to the server's. */
  readonly fullResync: boolean;
}

/** What sync needs of the local database. All synchronous, on the leader's one connection. */
export interface SyncDatabase extends PushSource {
  readonly siteId: Uint8Array;
  /** The hash of the schema for the next hello. */
  readonly schemaHash: string;
  /**
   * The hello names the app's schema although the file has more columns. No snapshot is taken and nothing is audited
   * then, because neither would match the file's tables.
   */
  readonly isNarrow: boolean;
  /** The server does not know the named schema. Returns whether there is another one to name at once. */
  onSchemaMismatch(): boolean;
  /** The fields of a `schema-mismatch` from this side: table, column, side, problem. */
  mismatchFields(fields: ErrorFields): ErrorFields;
  position(): SyncPosition;
  /**
   * Compares the server's welcome with the local state. Stores the identity of its database and its log epoch. Throws
   * `database-mismatch` for another database than before.
   */
  greet(welcome: Welcome): WelcomeVerdict;
  /** The server's current wall time, in ms. */
  noteServerTime(serverNowMs: number): void;
  /** One transaction: a new site id, the changesets from `firstOwn` on numbered from 1. See new-site.ts. */
  becomeNewSite(firstOwn: number): void;
  /**
   * One transaction: outcomes, rows, cursor. `snapshot`: the file that was named in the hello. Throws, and changes
   * nothing, when it cannot. Returns whether the outbox has something new: edits made anew.
   */
  applyDelivery(delivery: Delivery, snapshot?: SnapshotFile | null): boolean;
  readonly audit: AuditDatabase;
  counts(): OutboxCounts;
  /** Whether sync is paused. */
  readonly isPaused: boolean;
}

/** With the progress of a snapshot download; null without one. */
export interface EngineReport extends SyncReport {
  readonly snapshot: SnapshotProgress | null;
}

export interface SyncEngineOptions {
  readonly url: string;
  readonly databaseId: string;
  readonly token: () => Promise<string>;
  readonly database: SyncDatabase;
  readonly connect: Connect;
  /** Default: none. */
  readonly presence?: PresenceLine;
  readonly onReport: (report: EngineReport) => void;
  /** A problem for the user that ends no connection. */
  readonly onProblem: (error: RockpoolError) => void;
  /** Runs a task on the database now, or when the open interactive transaction ends. Default: now. */
  readonly inTurn?: (job: () => void) => void;
  /** Default: full resyncs arrive as deliveries. */
  readonly snapshots?: SnapshotSource;
  /** Only a new worker can help. */
  readonly onStuck: () => void;
  /** See idle-audit.ts. */
  readonly auditTimes?: AuditTimes;
  readonly nowMs?: () => number;
  readonly random?: () => number;
}

export interface SyncEngine {
  start(): void;
  /** The outbox grew, or sync was paused or resumed. */
  committed(): void;
  /** Retries at once instead of at the next attempt: the device is online again, or the user asked. */
  tryNow(): void;
  /** Disconnects for good. */
  stop(): void;
}

/** A confirmation may wait for more: it only lets the server prune outcomes. */
const CONFIRM_DELAY_MS = 1_000;

// setTimeout takes 31 bits; a wake-up that is too early schedules again.
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
  // Answers of an earlier attempt to connect must not reach a later one.
  let attempt = 0;
  // Rows of the delivery that is coming.
  let staged: ChangeGroup[] = [];
  // How often another connection took the place of this one while it was live.
  let timesReplaced = 0;
  // As they were last read.
  let counts: OutboxCounts = { pendingCount: 0, rejectedCount: 0 };

  const pushes = createOutgoingPushes(database, (batch) => {
    connection?.send({ type: 'push', ...batch });
    return connection !== null;
  });
  const snapshots = createSnapshotTaking({ source: options.snapshots, dispatch, onProblem: options.onProblem });
  const audit = new IdleAudit({
    database: database.audit,
    nowMs: steadyMs,
    times: options.auditTimes ?? AUDIT_TIMES,
    send: (message) => connection?.send(message),
    inTurn,
    onDiverged: options.onProblem,
    onUnrepaired: (error) => dispatch({ type: 'diverged', error: error.toData() }),
    onFailed: (thrown) => dispatch({ type: 'failed', error: toRockpoolError(thrown).toData() }),
  });

  function whileOn(mine: number): () => boolean {
    return () => mine === attempt;
  }

  function dispatch(event: MachineEvent): void {
    const step = nextStep(state, event, { nowMs: steadyMs(), wallMs: nowMs(), random: random() });
    state = step.state;
    for (const effect of step.effects) run(effect);
    clearTimeout(wakeTimer);
    if (state.wakeAtMs !== null) {
      wakeTimer = setTimeout(
        () => dispatch({ type: 'wake' }),
        Math.min(Math.max(0, state.wakeAtMs - steadyMs()), LONGEST_TIMER_MS),
      );
    }
    report();
  }

  function report(): void {
    counts = countsNow();
    options.onReport({ ...syncReport(state, counts, nowMs() - steadyMs()), snapshot: snapshots.progress });
  }

  /** A database whose storage the browser closed must not hide the failure from the user. */
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
        pushes.forget();
        staged = [];
        clearTimeout(confirmTimer);
        confirmTimer = undefined;
        snapshots.abort();
        audit.stop();
        presence?.disconnected();
        break;
      case 'take-snapshot':
        snapshots.take(whileOn(attempt));
        break;
      case 'give-up-snapshot':
        snapshots.giveUp(effect.error);
        break;
      case 'ping':
        connection?.send({ type: 'ping' });
        break;
      case 'push':
        // A welcome that does not fit is handled first.
        if (mayPush(state)) guarded(() => push(effect.after));
        break;
      case 'welcome':
        guarded(() => greet(effect.welcome));
        break;
      case 'note-server-time':
        guarded(() => database.noteServerTime(effect.serverNowMs));
        break;
      case 'audit-answer':
        guarded(() => audit.handleAnswer(effect.answer));
        break;
      case 'presence':
        presence?.heard(effect.update);
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

  /** A local failure ends the connection like any other, with its reason in the status. */
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
      if (mine === attempt) dispatch({ type: 'failed', error: toRockpoolError(thrown).toData() });
      return;
    }
    if (mine !== attempt) return;
    dispatch({ type: 'token-had' });
    const opened = connect(url, {
      onOpen() {
        if (mine === attempt) guarded(() => sayHello(opened, credentials));
      },
      onMessage: (message) =>
        inTurn(() => {
          if (mine !== attempt) return;
          const isReplaced =
            state.phase === 'live' && message.type === 'failure' && message.code === 'session-replaced';
          dispatch({ type: 'message', message: explained(message) });
          if (message.type === 'failure') nameOtherSchema(message.code);
          if (isReplaced) guarded(replaced);
        }),
      onFailed(error) {
        if (mine !== attempt) return;
        dispatch({ type: 'failed', error });
        nameOtherSchema(error.code);
      },
    });
    connection = opened;
  }

  /** The server sends the outline of its schema; the status names the difference. */
  function explained(message: ServerMessage): ServerMessage {
    return message.type === 'failure' && message.code === 'schema-mismatch'
      ? { ...message, fields: database.mismatchFields(message.fields) }
      : message;
  }

  function nameOtherSchema(code: ErrorCode): void {
    if (code === 'schema-mismatch') guarded(() => void (database.onSchemaMismatch() && dispatch({ type: 'try-now' })));
  }

  function sayHello(opened: ServerConnection, credentials: string): void {
    const position = database.position();
    opened.send({
      type: 'hello',
      protocolVersion: PROTOCOL_VERSION,
      token: credentials,
      databaseId,
      siteId: database.siteId,
      schemaHash: database.schemaHash,
      ...position,
      fullResync: position.fullResync || asksFullResync(state),
      snapshot: database.isNarrow ? 'refused' : snapshots.offer,
    });
    dispatch({ type: 'hello-sent', lastAckedSequence: position.lastAckedSequence });
  }

  function greet(welcome: Welcome): void {
    const verdict = database.greet(welcome);
    if (verdict.kind === 'new-site') changeSite(verdict.firstOwn);
    else if (verdict.kind === 'copied') {
      dispatch({ type: 'copied' });
      pushes.askWhatDiffers(verdict.pushAfter, welcome);
    } else presence?.connected((states) => connection?.send({ type: 'presence', states }));
  }

  function changeSite(firstOwn: number): void {
    database.becomeNewSite(firstOwn);
    dispatch({ type: 'renumbered' });
  }

  /**
   * This engine has one connection at a time, and the server keeps the newest one of a site. One replacement may be due
   * to a late hello; two mean that a copy of this file is connected too, and each would disconnect the other for ever.
   * The one with nothing to send continues as another site, so that nothing counts twice.
   */
  function replaced(): void {
    timesReplaced++;
    if (timesReplaced < 2 || database.counts().pendingCount > 0) return;
    timesReplaced = 0;
    changeSite(database.position().lastSequence + 1);
  }

  function push(after: number): void {
    const sentUpTo = pushes.push(after);
    if (sentUpTo > after) dispatch({ type: 'pushed', sentUpTo });
  }

  function apply(delivery: Delivery): void {
    const groups = [...staged, ...delivery.groups];
    staged = [];
    let hasWritten = false;
    try {
      hasWritten = database.applyDelivery({ ...delivery, groups }, snapshots.file);
    } catch (thrown) {
      return dispatch({ type: 'apply-failed', error: toRockpoolError(thrown).toData() });
    }
    snapshots.delivered();
    dispatch({ type: 'applied' });
    // A delivery that decides nothing sends nothing by itself.
    if (hasWritten) dispatch({ type: 'committed' });
    if (!database.isNarrow) audit.start();
    audit.postpone();
    pushes.decided(delivery.lastAckedSequence);
    confirmTimer ??= setTimeout(confirm, CONFIRM_DELAY_MS);
  }

  function confirm(): void {
    confirmTimer = undefined;
    guarded(() => {
      // Only what survives power loss may be confirmed: the server forgets the outcomes then.
      database.flush();
      const { cursor, lastAckedSequence } = database.position();
      connection?.send({ type: 'confirm', cursor, lastAckedSequence });
    });
  }

  return {
    start: () => dispatch({ type: database.isPaused ? 'pause' : 'start' }),
    // The commit stands, whatever fails here: its author must not be told otherwise.
    committed: () =>
      guarded(() => {
        const isPaused = state.phase === 'paused';
        if (state.phase !== 'stopped' && database.isPaused !== isPaused)
          return dispatch({ type: isPaused ? 'resume' : 'pause' });
        audit.postpone();
        dispatch({ type: 'committed' });
      }),
    tryNow: () => dispatch({ type: 'try-now' }),
    stop: () => dispatch({ type: 'stop' }),
  };
}
