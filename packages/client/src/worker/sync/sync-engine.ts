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
  type Failure,
  type RockpoolError,
  type ServerMessage,
  type Welcome,
} from '@rockpool/shared';
import type { SnapshotFile } from '../apply/snapshot-file.ts';
import type { PresenceLine } from '../presence/site-presence.ts';
import type { SnapshotProgress } from '../../rpc/snapshot-progress.ts';
import type { WelcomeVerdict } from './judge-welcome.ts';
import { createOutgoingPushes, type OutgoingPushes, type PushSource } from './outgoing-pushes.ts';
import { createSnapshotTaking, type SnapshotSource, type SnapshotTaking } from './snapshot-taking.ts';
import { nextStep } from './sync-machine.ts';
import {
  asksFullResync,
  INITIAL_STATE,
  mayPush,
  type Effect,
  type MachineEvent,
  type MachineState,
} from './sync-state.ts';
import { syncReport, type OutboxCounts, type SyncReport } from './sync-status.ts';
import { ConnectionAttempts } from './connection-attempts.ts';
import type { Connect } from './server-connection.ts';
import { WaitingDeliveries } from './waiting-deliveries.ts';
import type { Withdrawals } from './withdrawals.ts';

/** The durable sync position of this database. */
export interface SyncPosition {
  /** See Hello. */
  readonly databaseIdentity: Uint8Array | null;
  /** Null before the first welcome. */
  readonly logEpoch: Uint8Array | null;
  readonly cursor: number;
  /** See Hello. */
  readonly cursorHash: Uint8Array;
  /** The last changeset of this site with an applied outcome. */
  readonly lastAckedSequence: number;
  /** The hash of that changeset; zeros if there is none. */
  readonly decidedHash: Uint8Array;
  readonly lastSequence: number;
  /** Whether a full resync is needed because incremental deliveries would not make these rows equal to the server's. */
  readonly fullResync: boolean;
}

/** The interface of sync to the local database. All calls are synchronous, on the leader's one connection. */
export interface SyncDatabase extends PushSource {
  readonly siteId: Uint8Array;
  /** The hash of the schema for the next hello. */
  readonly schemaHash: string;
  /**
   * Whether the hello names the app's schema even though the file has more columns. No snapshot is taken and nothing is
   * audited then, because neither would match the file's tables.
   */
  readonly isNarrow: boolean;
  /** Whether the last welcome that a delivery followed let the user write; null before the first one. */
  readonly userMayWrite: boolean | null;
  /** The `sub` of the JWT of the principal's last session; null if unknown. */
  tokenSub(): string | null;
  /** Called when the server does not have the named schema. Returns whether a different one can be named at once. */
  onSchemaMismatch(): boolean;
  /**
   * The fields of a `schema-mismatch` from this side: table, column, side, problem. Rejects with `code-unloadable`.
   */
  mismatchFields(fields: ErrorFields): Promise<ErrorFields>;
  position(): SyncPosition;
  /**
   * Compares the server's welcome with the local state. Stores the identity of the server's database and its log epoch.
   * Throws `database-mismatch` if the local database belongs to a different server database. `sub`: that of the
   * principal's JWT; null if it names no user, or the app none. Default: null.
   */
  greet(welcome: Welcome, sub?: string | null): WelcomeVerdict;
  /** Records the server's current wall time, in ms. */
  noteServerTime(serverNowMs: number): void;
  /**
   * Assigns a new site id and numbers the changesets from `firstOwn` on from 1, in one transaction. See new-site.ts.
   */
  becomeNewSite(firstOwn: number): void;
  readonly withdrawals: Withdrawals;
  /**
   * Applies the outcomes, rows and cursors of one or more deliveries in one transaction, or throws and changes nothing.
   * A full resync comes alone, with `snapshot`, the file that the hello named. Returns whether the outbox has new
   * changesets: re-created edits.
   */
  applyDeliveries(deliveries: readonly Delivery[], snapshot?: SnapshotFile | null): boolean;
  readonly audit: AuditDatabase;
  counts(): OutboxCounts;
  readonly isPaused: boolean;
}

export interface EngineReport extends SyncReport {
  /** The progress of a snapshot download; null if there is none. */
  readonly snapshot: SnapshotProgress | null;
}

export interface SyncEngineOptions {
  readonly url: string;
  readonly databaseId: string;
  readonly token: () => Promise<string>;
  /** See ConnectionAttempts. */
  readonly principal?: string | null;
  readonly database: SyncDatabase;
  readonly connect: Connect;
  /** Default: none. */
  readonly presence?: PresenceLine;
  readonly onReport: (report: EngineReport) => void;
  /** Called for a problem that concerns the user but ends no connection. */
  readonly onProblem: (error: RockpoolError) => void;
  /** Runs a task on the database now, or when the open interactive transaction has ended. Default: now. */
  readonly inTurn?: (job: () => void) => void;
  /** Default: full resyncs arrive as deliveries. */
  readonly snapshots?: SnapshotSource;
  /** Called when only a new worker can help. */
  readonly onStuck: () => void;
  /** See idle-audit.ts. */
  readonly auditTimes?: AuditTimes;
  readonly nowMs?: () => number;
  readonly random?: () => number;
}

export interface SyncEngine {
  start(): void;
  /** Called when the outbox grew, or when sync was paused or resumed, or a changeset withdrawn. */
  committed(): void;
  /** Called if the medium has undone the last delivery: the next attempt comes after a delay. */
  onRefused(error: RockpoolError): void;
  /** Retries at once instead of at the next attempt, because the device is online again or the user asked. */
  tryNow(): void;
  /** Checks at once whether the server still answers, because the device reports that it is offline. */
  check(): void;
  /** Disconnects permanently. */
  stop(): void;
}

/** A confirmation may be combined with later ones: it only lets the server prune outcomes. */
const CONFIRM_DELAY_MS = 1_000;

/** Runs the sync machine (sync-machine.ts) with timers, tokens, sockets and the database. Each leader has one. */
export function createSyncEngine(options: SyncEngineOptions): SyncEngine {
  return new Engine(options);
}

class Engine implements SyncEngine {
  private readonly options: SyncEngineOptions;
  private readonly database: SyncDatabase;
  private readonly nowMs: () => number;
  private readonly steadyMs: () => number;
  private readonly random: () => number;
  private readonly attempts: ConnectionAttempts;
  private readonly pushes: OutgoingPushes;
  private readonly snapshots: SnapshotTaking;
  private readonly deliveries: WaitingDeliveries;
  private readonly audit: IdleAudit;
  private state: MachineState;
  private wakeTimer: ReturnType<typeof setTimeout> | undefined;
  /** When the wake timer fires, by the steady clock. */
  private wakeTimerAtMs = 0;
  private confirmTimer: ReturnType<typeof setTimeout> | undefined;
  /** What the network had not taken at the last wake-up. */
  private bufferedBytes = 0;
  /** Rows of a delivery whose parts have not all arrived. */
  private staged: ChangeGroup[] = [];
  /** Whether this database continues as a new site after the next delivery. */
  private changesSite = false;
  /** How often another connection replaced this one while it was live. */
  private timesReplaced = 0;
  /** The counts that were read last. */
  private counts: OutboxCounts = { pendingCount: 0, rejectedCount: 0 };

  constructor(options: SyncEngineOptions) {
    const { database, onProblem, inTurn = (job: () => void): void => job() } = options;
    this.options = options;
    this.database = database;
    this.state = { ...INITIAL_STATE, canWrite: database.userMayWrite };
    this.nowMs = options.nowMs ?? Date.now;
    this.steadyMs = createSteadyClock(this.nowMs, () => performance.now());
    this.random = options.random ?? Math.random;
    this.attempts = new ConnectionAttempts({
      ...options,
      knownSub: () => database.tokenSub(),
      inTurn,
      onToken: () => this.dispatch({ type: 'token-had' }),
      onOpen: () => this.guarded(() => this.sayHello()),
      onMessage: (message) => this.receive(message),
      onPart: () => {
        this.audit.postpone();
        this.dispatch({ type: 'progress', isReceived: true });
      },
      onFailed: (error) => {
        this.dispatch({ type: 'failed', error });
        this.nameOtherSchema(error.code);
      },
    });
    this.pushes = createOutgoingPushes(database, (batch) => this.attempts.send({ type: 'push', ...batch }));
    this.snapshots = createSnapshotTaking({
      source: options.snapshots,
      dispatch: (event) => this.dispatch(event),
      onProblem,
    });
    this.deliveries = new WaitingDeliveries({
      nowMs: this.steadyMs,
      inTurn,
      onReady: (deliveries) => this.dispatch({ type: 'deliveries', deliveries }),
    });
    this.audit = new IdleAudit({
      database: database.audit,
      nowMs: this.steadyMs,
      times: options.auditTimes ?? AUDIT_TIMES,
      send: (message) => this.attempts.send(message),
      inTurn,
      onDiverged: onProblem,
      onUnrepaired: (error) => this.dispatch({ type: 'diverged', error: error.toData() }),
      onFailed: (thrown) => this.dispatch({ type: 'failed', error: toRockpoolError(thrown).toData() }),
    });
  }

  start(): void {
    this.dispatch({ type: this.database.isPaused ? 'pause' : 'start' });
  }

  /** Never throws: the commit is complete even if something fails here, so its author must receive no error. */
  committed(): void {
    this.guarded(() => {
      const isPaused = this.state.phase === 'paused';
      if (this.state.phase !== 'stopped' && this.database.isPaused !== isPaused)
        return this.dispatch({ type: isPaused ? 'resume' : 'pause' });
      this.audit.postpone();
      // On any other connection, a welcome is still to come.
      const reconnects = this.database.withdrawals.asksServer && this.state.phase === 'live';
      this.dispatch({ type: reconnects ? 'renumbered' : 'committed' });
    });
  }

  onRefused(error: RockpoolError): void {
    this.dispatch({ type: 'failed', error: error.toData() });
  }

  tryNow(): void {
    this.dispatch({ type: 'try-now' });
  }

  check(): void {
    this.dispatch({ type: 'check' });
  }

  stop(): void {
    this.dispatch({ type: 'stop' });
  }

  private dispatch(event: MachineEvent): void {
    this.step(event);
    this.planWake();
    try {
      this.counts = this.database.counts();
    } catch {
      // Reports the last known counts, so that the user still sees why the database cannot be read.
    }
    this.options.onReport({
      ...syncReport(this.state, this.counts, this.nowMs() - this.steadyMs()),
      snapshot: this.snapshots.progress,
    });
  }

  /** Runs an event without reporting it. An effect dispatches it, and one report covers all effects of an event. */
  private step(event: MachineEvent): void {
    const step = nextStep(this.state, event, {
      nowMs: this.steadyMs(),
      wallMs: this.nowMs(),
      random: this.random(),
    });
    this.state = step.state;
    for (const effect of step.effects) this.run(effect);
  }

  /**
   * Each message moves the next wake-up, so a timer that fires earlier is kept: it finds that nothing is due and plans
   * the next one. Replacing it would cost more than applying a row. A timer that is late, because the device slept, is
   * replaced.
   */
  private planWake(): void {
    const atMs = this.state.wakeAtMs;
    const nowMs = this.steadyMs();
    if (this.wakeTimer !== undefined) {
      if (atMs !== null && nowMs < this.wakeTimerAtMs && this.wakeTimerAtMs <= atMs) return;
      clearTimeout(this.wakeTimer);
      this.wakeTimer = undefined;
    }
    if (atMs === null) return;
    this.wakeTimerAtMs = atMs;
    this.wakeTimer = setTimeout(
      () => {
        this.wakeTimer = undefined;
        this.noteSent();
        this.dispatch({ type: 'wake' });
      },
      Math.max(0, atMs - nowMs),
    );
  }

  /** Called at least once per ping interval, which is shorter than every deadline of a live connection. */
  private noteSent(): void {
    const { bufferedBytes } = this.attempts;
    if (bufferedBytes > 0) this.audit.postpone();
    if (bufferedBytes < this.bufferedBytes) this.step({ type: 'progress', isReceived: false });
    this.bufferedBytes = bufferedBytes;
  }

  private run(effect: Effect): void {
    switch (effect.type) {
      case 'connect':
        this.attempts.open();
        break;
      case 'disconnect':
        this.disconnect();
        break;
      case 'take-snapshot':
        this.snapshots.take(this.attempts.whileCurrent());
        break;
      case 'give-up-snapshot':
        this.snapshots.giveUp(effect.error);
        break;
      case 'ping':
        this.attempts.send({ type: 'ping' });
        break;
      case 'push':
        // After a welcome, its own effect runs first. If the welcome does not fit, the state no longer allows a push.
        if (mayPush(this.state) && !this.database.withdrawals.areUndecided) this.guarded(() => this.push(effect.after));
        break;
      case 'welcome':
        this.guarded(() => this.greet(effect.welcome));
        break;
      case 'note-server-time':
        this.guarded(() => this.database.noteServerTime(effect.serverNowMs));
        break;
      case 'audit-answer':
        this.guarded(() => this.audit.handleAnswer(effect.answer));
        break;
      case 'presence':
        this.options.presence?.heard(effect.update);
        break;
      case 'apply':
        this.apply(effect.deliveries);
        break;
      case 'stage':
        for (const group of effect.part.groups) this.staged.push(group);
        this.audit.postpone();
        break;
      case 'restart':
        this.options.onStuck();
        break;
      case 'become-new-site':
        this.guarded(() => this.changeSite(effect.firstOwn));
        break;
    }
  }

  private disconnect(): void {
    this.attempts.close();
    this.pushes.forget();
    this.deliveries.forget();
    this.staged = [];
    this.bufferedBytes = 0;
    this.changesSite = false;
    clearTimeout(this.confirmTimer);
    this.confirmTimer = undefined;
    this.snapshots.abort();
    this.audit.stop();
    this.options.presence?.disconnected();
  }

  /** A local failure ends the connection like any other, with its reason in the status. */
  private guarded(work: () => void): void {
    try {
      work();
    } catch (thrown) {
      this.dispatch({ type: 'failed', error: toRockpoolError(thrown).toData() });
    }
  }

  private receive(message: ServerMessage): void {
    const { phase, caughtUp } = this.state;
    if (message.type === 'delivery' && phase === 'live' && caughtUp && !message.whole)
      return this.deliveries.take(message);
    this.deliveries.release();
    if (message.type === 'failure' && message.code === 'schema-mismatch') return void this.nameDifference(message);
    const isReplaced = this.state.phase === 'live' && message.type === 'failure' && message.code === 'session-replaced';
    this.dispatch({ type: 'message', message });
    if (isReplaced) this.guarded(() => this.replaced());
  }

  /**
   * Replaces the server's schema outline with the difference, which the status shows. The server closes the connection
   * meanwhile, so the end of the connection must not be reported first.
   */
  private async nameDifference({ type, code, fields }: Failure): Promise<void> {
    this.attempts.close();
    const isCurrent = this.attempts.whileCurrent();
    const { outline: _, ...others } = fields;
    const named = await this.database.mismatchFields(fields).catch(() => others);
    if (!isCurrent()) return;
    this.dispatch({ type: 'message', message: { type, code, fields: named } });
    this.nameOtherSchema(code);
  }

  private nameOtherSchema(code: ErrorCode): void {
    if (code !== 'schema-mismatch') return;
    this.guarded(() => void (this.database.onSchemaMismatch() && this.dispatch({ type: 'try-now' })));
  }

  private sayHello(): void {
    const { database } = this;
    const position = database.position();
    this.attempts.send({
      type: 'hello',
      protocolVersion: PROTOCOL_VERSION,
      token: this.attempts.token,
      databaseId: this.options.databaseId,
      siteId: database.siteId,
      schemaHash: database.schemaHash,
      ...position,
      fullResync: position.fullResync || asksFullResync(this.state),
      snapshot: database.isNarrow ? 'refused' : this.snapshots.offer,
    });
    this.dispatch({ type: 'hello-sent', lastAckedSequence: position.lastAckedSequence });
  }

  private greet(welcome: Welcome): void {
    const verdict = this.database.greet(welcome, this.attempts.sub);
    const aheadMs = welcome.serverNowMs - this.steadyMs();
    this.attempts.renewToken(() => this.steadyMs() + aheadMs);
    if (verdict.kind === 'new-site') this.changeSite(verdict.firstOwn);
    else if (verdict.kind === 'copied') {
      this.dispatch({ type: 'copied' });
      this.pushes.askWhatDiffers(verdict.pushAfter, welcome);
    } else if (verdict.kind === 'outcomes-first') this.changesSite = true;
    else this.options.presence?.connected((states) => void this.attempts.send({ type: 'presence', states }));
  }

  private changeSite(firstOwn: number): void {
    this.database.becomeNewSite(firstOwn);
    this.dispatch({ type: 'renumbered' });
  }

  /**
   * This engine has one connection at a time, and the server keeps the newest one of a site. One replacement may be due
   * to a late hello; two mean that a copy of this file is connected too, and each would keep disconnecting the other.
   * A copy that has nothing to send continues as a new site, so that no change counts twice.
   */
  private replaced(): void {
    this.timesReplaced++;
    if (this.timesReplaced < 2 || this.database.counts().pendingCount > 0) return;
    this.timesReplaced = 0;
    this.changeSite(this.database.position().lastSequence + 1);
  }

  private push(after: number): void {
    const sentUpTo = this.pushes.push(after);
    if (sentUpTo > after) this.step({ type: 'pushed', sentUpTo });
  }

  private apply([first, ...later]: readonly [Delivery, ...Delivery[]]): void {
    const { database } = this;
    const groups = [...this.staged, ...first.groups];
    this.staged = [];
    let hasWritten = false;
    try {
      hasWritten = database.applyDeliveries([{ ...first, groups }, ...later], this.snapshots.file);
    } catch (thrown) {
      return this.step({ type: 'apply-failed', error: toRockpoolError(thrown).toData() });
    }
    this.snapshots.delivered();
    this.step({ type: 'applied' });
    if (this.changesSite) return this.guarded(() => this.changeSite(database.position().lastAckedSequence + 1));
    // Re-created edits are sent even if the delivery has no outcomes.
    if (hasWritten) this.step({ type: 'committed' });
    if (!database.isNarrow) this.audit.start();
    this.audit.postpone();
    this.pushes.decided((later.at(-1) ?? first).lastAckedSequence);
    this.confirmTimer ??= setTimeout(() => this.confirm(), CONFIRM_DELAY_MS);
  }

  private confirm(): void {
    this.confirmTimer = undefined;
    this.guarded(() => {
      const { cursor, lastAckedSequence } = this.database.position();
      // Only outcomes that survive a power loss may be confirmed, because the server then forgets them. The server
      // sends rows again, so a device that only reads need not flush.
      if (lastAckedSequence > 0) this.database.flush();
      this.attempts.send({ type: 'confirm', cursor, lastAckedSequence });
    });
  }
}
