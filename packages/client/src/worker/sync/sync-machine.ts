import {
  PING_INTERVAL_MS,
  RockpoolError,
  SILENCE_LIMIT_MS,
  type AuditAnswer,
  type Delivery,
  type DeliveryPart,
  type ErrorData,
  type ErrorFields,
  type PresenceUpdate,
  type ServerMessage,
  type Welcome,
} from '@rockpool/shared';
import type { SyncStage, SyncWait, WaitStage } from '../../rpc/sync-status.ts';
import { isServerTrouble, retryDelayMs } from './retry-delay.ts';
import { FIRST_SNAPSHOT_WAIT, type SnapshotWait } from './snapshot-wait.ts';
import { failedAgain, remedyOf, type Failing } from './stuck-stage.ts';

/*
 *             start, try-now, wake              token-had              hello-sent            welcome
 *   waiting ───────────────────────► authorizing ────────► connecting ──────────► greeting ─────────► live
 *      ▲                                  │                    │                     │                 │
 *      └─────────────── any failure, a deadline, silence, an overdue outcome or delivery ──────────────┘
 *
 *   greeting ── welcome that names a file ──► fetching ── with the file, or without one ────────────────► authorizing
 *
 *   stopped ── start ──► authorizing      any ── pause ──► paused ── resume ──► authorizing      any ── stop ──► stopped
 *
 * Pure: (state, event) → next state and effects. The engine runs the effects and dispatches the events.
 *
 *  1. Every phase but `stopped` and `paused` has a time at which something happens without an event (`wakeAtMs`), so
 *     nothing waits for ever.
 *  2. `trouble` is why the last connection ended. The status shows it until a connection is live again.
 *  3. Nothing is pushed while a full resync or outcomes are awaited. The resync decides what is pending, and a missing
 *     outcome means that this file is a copy, whose own changesets need another site id.
 *  4. No delivery is applied while the changesets of a copied file are compared: its outcomes belong to another copy.
 *  5. `failing` is the stage that fails repeatedly despite a connection; stuck-stage.ts says which remedy is next.
 *  6. `sentUpTo` belongs to one connection. On a new connection, the server states from where to push.
 */

/** The limit for each of the token, the opening of the socket and the welcome. Each takes a round trip or two. */
export const CONNECT_DEADLINE_MS = 15_000;

/**
 * If a push has no outcome for this long, a new connection is opened: the push may have been lost, and sending it again
 * is harmless.
 */
export const OUTCOME_DEADLINE_MS = 30_000;

/**
 * A server answers a ping within a round trip. A connection that is in doubt and does not answer within this time is
 * replaced.
 */
export const CHECK_DEADLINE_MS = 5_000;

/** The server sends the first delivery at once and in parts. A gap of this length leads to a new connection. */
export const DELIVERY_DEADLINE_MS = 30_000;

/**
 * A snapshot download has its own deadlines (snapshot-wait.ts). If it has not ended this long after them, it hangs, and
 * deliveries replace it.
 */
export const SNAPSHOT_GRACE_MS = 5_000;

export type Phase = 'stopped' | 'paused' | 'waiting' | 'authorizing' | 'connecting' | 'greeting' | 'fetching' | 'live';

export interface MachineState {
  readonly phase: Phase;
  /** Failures in a row without a delivery in between; a welcome alone does not count as a success. */
  readonly failures: number;
  readonly trouble: ErrorData | null;
  readonly wakeAtMs: number | null;
  /** The start of the current phase or stage. */
  readonly phaseSinceMs: number;
  /** The current wait for the snapshot while one is fetched. */
  readonly snapshotWait: SnapshotWait;
  readonly lastHeardMs: number | null;
  readonly pingSentMs: number | null;
  /**
   * The time by which any message shows that a live connection works, although the device has reported that it is
   * offline.
   */
  readonly checkUntilMs: number | null;
  readonly sentUpTo: number;
  readonly lastAckedSequence: number;
  /** The time from which a sent changeset has waited for its outcome. */
  readonly waitingSinceMs: number | null;
  /** The time since which the first delivery, or the rest of one, is awaited. */
  readonly deliverySinceMs: number | null;
  readonly failing: Failing | null;
  /** This device's clock minus the server's. */
  readonly clockOffsetMs: number | null;
  readonly canWrite: boolean;
  /** The first delivery after the welcome has arrived: the local state equals the server's at that time. */
  readonly caughtUp: boolean;
  /** Whether the first delivery will be a full resync. */
  readonly awaitsWhole: boolean;
  /** Whether the first delivery will have unknown outcomes. */
  readonly awaitsOutcomes: boolean;
  /** The server has a changeset from another copy of this file, and was asked for the first one that differs. */
  readonly copied: boolean;
}

export type MachineEvent =
  | { readonly type: 'start' }
  | { readonly type: 'stop' }
  | { readonly type: 'pause' }
  | { readonly type: 'resume' }
  /** The device is online again, or the user asked to retry at once. */
  | { readonly type: 'try-now' }
  /** The device reports that it is offline. A server on this device or behind another network may still answer. */
  | { readonly type: 'check' }
  | { readonly type: 'wake' }
  /** The app returned a token. */
  | { readonly type: 'token-had' }
  /** The hello was sent, with the last changeset whose outcome is known. */
  | { readonly type: 'hello-sent'; readonly lastAckedSequence: number }
  | { readonly type: 'message'; readonly message: ServerMessage }
  /** Deliveries of a live connection, to be applied together. */
  | { readonly type: 'deliveries'; readonly deliveries: Deliveries }
  /** The reason why the connection or the attempt ended. */
  | { readonly type: 'failed'; readonly error: ErrorData }
  /** A delivery could not be applied. */
  | { readonly type: 'apply-failed'; readonly error: ErrorData }
  | { readonly type: 'applied' }
  /** Rows differ from the server's even after row-by-row repairs. */
  | { readonly type: 'diverged'; readonly error: ErrorData }
  /** The outbox grew. */
  | { readonly type: 'committed' }
  | { readonly type: 'pushed'; readonly sentUpTo: number }
  /** The welcome is about another copy of this file. */
  | { readonly type: 'copied' }
  /** This database continues as another site. */
  | { readonly type: 'renumbered' }
  /** The download progressed or entered another stage. */
  | { readonly type: 'snapshot-progress'; readonly wait: SnapshotWait }
  /** The download ended, with or without a file. */
  | { readonly type: 'snapshot-taken' };

export type Effect =
  /** Requests a token, opens a socket and sends a hello. */
  | { readonly type: 'connect' }
  | { readonly type: 'disconnect' }
  /** Downloads the server's snapshot. */
  | { readonly type: 'take-snapshot' }
  /** Stops taking snapshots: full resyncs arrive as deliveries. */
  | { readonly type: 'give-up-snapshot'; readonly error: ErrorData }
  | { readonly type: 'ping' }
  /** Pushes the changesets after this sequence that fit into the window. */
  | { readonly type: 'push'; readonly after: number }
  | { readonly type: 'welcome'; readonly welcome: Welcome }
  /** The server sent its time. */
  | { readonly type: 'note-server-time'; readonly serverNowMs: number }
  | { readonly type: 'audit-answer'; readonly answer: AuditAnswer }
  | { readonly type: 'presence'; readonly update: PresenceUpdate }
  /** Keeps these rows for the delivery that follows. */
  | { readonly type: 'stage'; readonly part: DeliveryPart }
  | { readonly type: 'apply'; readonly deliveries: Deliveries }
  /** Continues as another site with the changesets from this sequence on. */
  | { readonly type: 'become-new-site'; readonly firstOwn: number }
  /** Requests a new worker after everything else failed. */
  | { readonly type: 'restart' };

/** One or more, in order. A full resync comes alone. */
export type Deliveries = readonly [Delivery, ...Delivery[]];

export interface Step {
  readonly state: MachineState;
  readonly effects: readonly Effect[];
}

export interface Moment {
  /** Monotonic time (shared/clock/steady-clock.ts) for all deadlines. */
  readonly nowMs: number;
  /** The device's wall clock, which may be wrong. */
  readonly wallMs: number;
  /** A number in [0, 1) that spreads the retries of many clients. */
  readonly random: number;
}

export const INITIAL_STATE: MachineState = {
  phase: 'stopped',
  failures: 0,
  trouble: null,
  wakeAtMs: null,
  phaseSinceMs: 0,
  snapshotWait: FIRST_SNAPSHOT_WAIT,
  lastHeardMs: null,
  pingSentMs: null,
  checkUntilMs: null,
  sentUpTo: 0,
  lastAckedSequence: 0,
  waitingSinceMs: null,
  deliverySinceMs: null,
  failing: null,
  clockOffsetMs: null,
  canWrite: true,
  caughtUp: false,
  awaitsWhole: false,
  awaitsOutcomes: false,
  copied: false,
};

export function nextStep(state: MachineState, event: MachineEvent, moment: Moment): Step {
  if (event.type === 'stop') return resting(state, 'stopped');
  if (event.type === 'pause') return resting(state, 'paused');
  if (state.phase === 'stopped') return event.type === 'start' ? connecting(state, moment) : { state, effects: [] };
  if (state.phase === 'paused') return event.type === 'resume' ? connecting(state, moment) : { state, effects: [] };
  switch (event.type) {
    case 'start':
    case 'resume':
      return { state, effects: [] };
    case 'try-now':
      return state.phase === 'waiting' ? connecting(state, moment) : { state, effects: [] };
    case 'check':
      return state.phase === 'live' && state.checkUntilMs === null ? checking(state, moment) : { state, effects: [] };
    case 'wake':
      return wake(state, moment);
    case 'token-had':
      return { state: state.phase === 'authorizing' ? awaiting(state, 'connecting', moment) : state, effects: [] };
    case 'hello-sent':
      return {
        state:
          state.phase === 'connecting'
            ? { ...awaiting(state, 'greeting', moment), lastAckedSequence: event.lastAckedSequence }
            : state,
        effects: [],
      };
    case 'message':
      // Messages of an ended connection are ignored.
      return state.phase === 'waiting' ? { state, effects: [] } : receive(state, event.message, moment);
    case 'deliveries':
      return state.phase === 'live'
        ? delivered(hearing(state, moment), event.deliveries, moment)
        : { state, effects: [] };
    case 'failed':
      return state.phase === 'waiting' ? { state, effects: [] } : failed(state, event.error, moment);
    case 'apply-failed':
      return state.phase === 'live' ? failed(state, event.error, moment, 'apply') : { state, effects: [] };
    case 'applied':
      return {
        state: { ...state, failures: 0, failing: state.failing?.stage === 'outcome' ? state.failing : null },
        effects: [],
      };
    case 'diverged':
      return state.phase === 'live' ? failed(state, event.error, moment, 'audit') : { state, effects: [] };
    case 'committed':
      return { state, effects: mayPush(state) ? [{ type: 'push', after: state.sentUpTo }] : [] };
    case 'pushed':
      if (state.phase !== 'live') return { state, effects: [] };
      return {
        state: scheduled({ ...state, sentUpTo: event.sentUpTo, waitingSinceMs: state.waitingSinceMs ?? moment.nowMs }),
        effects: [],
      };
    case 'copied':
      return state.phase === 'live'
        ? { state: scheduled({ ...state, copied: true, waitingSinceMs: moment.nowMs }), effects: [] }
        : { state, effects: [] };
    case 'renumbered':
      return renumbered(state, moment);
    case 'snapshot-progress':
      return { state: state.phase === 'fetching' ? fetching(state, event.wait, moment) : state, effects: [] };
    case 'snapshot-taken':
      return state.phase === 'fetching' ? connecting(state, moment) : { state, effects: [] };
  }
}

function resting(state: MachineState, phase: 'stopped' | 'paused'): Step {
  const { lastHeardMs, clockOffsetMs } = state;
  return { state: { ...INITIAL_STATE, phase, lastHeardMs, clockOffsetMs }, effects: [{ type: 'disconnect' }] };
}

/** Reconnects at once the first time, later at the next attempt. */
function renumbered(state: MachineState, moment: Moment): Step {
  if (state.phase === 'waiting' && state.failures > 1) return { state, effects: [] };
  const step = connecting({ ...state, trouble: null }, moment);
  return { state: step.state, effects: [{ type: 'disconnect' }, ...step.effects] };
}

function connecting(state: MachineState, moment: Moment): Step {
  const next = awaiting(state, 'authorizing', moment);
  return {
    state: {
      ...next,
      pingSentMs: null,
      waitingSinceMs: null,
      deliverySinceMs: null,
      awaitsWhole: false,
      copied: false,
    },
    effects: [{ type: 'connect' }],
  };
}

/** Moves to the next connection step, with its full time. */
function awaiting(
  state: MachineState,
  phase: 'authorizing' | 'connecting' | 'greeting',
  { nowMs }: Moment,
): MachineState {
  return { ...state, phase, phaseSinceMs: nowMs, wakeAtMs: nowMs + CONNECT_DEADLINE_MS };
}

function fetching(state: MachineState, snapshotWait: SnapshotWait, { nowMs }: Moment): MachineState {
  return {
    ...state,
    phase: 'fetching',
    snapshotWait,
    phaseSinceMs: nowMs,
    wakeAtMs: nowMs + snapshotWait.withinMs + SNAPSHOT_GRACE_MS,
  };
}

function receive(state: MachineState, message: ServerMessage, moment: Moment): Step {
  const heard = hearing(state, moment);
  if (message.type === 'failure')
    return refused(heard, new RockpoolError(message.code, message.fields).toData(), moment);
  if (state.phase === 'greeting' && message.type === 'welcome') return welcomed(heard, message, moment);
  const next = state.phase === 'live' ? receiveLive(heard, message, moment) : null;
  return next ?? unexpected(heard, { message: message.type, phase: state.phase }, moment);
}

function hearing(state: MachineState, { nowMs }: Moment): MachineState {
  return { ...state, lastHeardMs: nowMs, pingSentMs: null, checkUntilMs: null };
}

function unexpected(state: MachineState, fields: ErrorFields, moment: Moment): Step {
  return failed(state, new RockpoolError('frame-unexpected', fields).toData(), moment);
}

function welcomed(state: MachineState, welcome: Welcome, moment: Moment): Step {
  if (welcome.takeSnapshot)
    return {
      state: fetching(state, FIRST_SNAPSHOT_WAIT, moment),
      effects: [{ type: 'disconnect' }, { type: 'take-snapshot' }],
    };
  const live: MachineState = {
    ...state,
    phase: 'live',
    trouble: null,
    failing: failingAfter(state, welcome.lastAckedSequence),
    sentUpTo: welcome.lastAckedSequence,
    lastAckedSequence: welcome.lastAckedSequence,
    waitingSinceMs: null,
    deliverySinceMs: moment.nowMs,
    clockOffsetMs: moment.wallMs - welcome.serverNowMs,
    canWrite: welcome.canWrite,
    caughtUp: false,
    awaitsWhole: welcome.fullResync,
    awaitsOutcomes: welcome.lastAckedSequence > state.lastAckedSequence,
  };
  const push: Effect[] = mayPush(live) ? [{ type: 'push', after: live.sentUpTo }] : [];
  return { state: scheduled(live), effects: [{ type: 'welcome', welcome }, ...push] };
}

/** Returns null for a message that is not allowed on a live connection. */
function receiveLive(state: MachineState, message: ServerMessage, moment: Moment): Step | null {
  switch (message.type) {
    case 'delivery-part':
      return state.copied
        ? { state: scheduled(state), effects: [] }
        : {
            state: scheduled({ ...state, deliverySinceMs: moment.nowMs }),
            effects: [{ type: 'stage', part: message }],
          };
    case 'delivery':
      return delivered(state, [message], moment);
    case 'audit-answer':
      return { state: scheduled(state), effects: [{ type: 'audit-answer', answer: message }] };
    case 'presence-update':
      return { state: scheduled(state), effects: [{ type: 'presence', update: message }] };
    case 'pong':
      return {
        state: scheduled({ ...state, clockOffsetMs: moment.wallMs - message.serverNowMs }),
        effects: [{ type: 'note-server-time', serverNowMs: message.serverNowMs }],
      };
    default:
      return null;
  }
}

function delivered(state: MachineState, deliveries: Deliveries, moment: Moment): Step {
  if (state.copied) return { state: scheduled(state), effects: [] };
  if (state.awaitsWhole && !deliveries[0].whole)
    return unexpected(state, { problem: 'the server promised a full resync and sent another delivery' }, moment);
  const lastAckedSequence = Math.max(state.lastAckedSequence, ...deliveries.map((one) => one.lastAckedSequence));
  const allDecided = lastAckedSequence >= state.sentUpTo;
  const waitingSinceMs = allDecided
    ? null
    : lastAckedSequence > state.lastAckedSequence
      ? moment.nowMs
      : state.waitingSinceMs;
  const next = scheduled({
    ...state,
    failing: failingAfter(state, lastAckedSequence),
    deliverySinceMs: null,
    caughtUp: true,
    awaitsWhole: false,
    awaitsOutcomes: false,
    lastAckedSequence,
    sentUpTo: Math.max(state.sentUpTo, lastAckedSequence),
    waitingSinceMs,
  });
  const push: Effect[] =
    mayPush(next) && (state.awaitsWhole || state.awaitsOutcomes || lastAckedSequence > state.lastAckedSequence)
      ? [{ type: 'push', after: next.sentUpTo }]
      : [];
  return { state: next, effects: [{ type: 'apply', deliveries }, ...push] };
}

/**
 * Handles the end of the connection by the server, with its reason. While an outcome is missing, the reason counts
 * against the outcome: otherwise a server that welcomes clients but cannot store anything would be retried at full
 * speed for ever.
 */
function refused(state: MachineState, error: ErrorData, moment: Moment): Step {
  return failed(state, error, moment, state.waitingSinceMs !== null && isServerTrouble(error.code) ? 'outcome' : null);
}

/** A delivery that acknowledges more ends a failure at the outcome stage. */
function failingAfter({ failing, lastAckedSequence }: MachineState, decidedNow: number): Failing | null {
  return failing?.stage === 'outcome' && decidedNow > lastAckedSequence ? null : failing;
}

function wake(state: MachineState, moment: Moment): Step {
  const { nowMs } = moment;
  if (state.wakeAtMs === null || nowMs < state.wakeAtMs) return { state, effects: [] };
  if (state.phase === 'waiting') return connecting(state, moment);
  if (state.phase === 'fetching') return withoutSnapshot(state, moment);
  if (state.phase === 'authorizing' || state.phase === 'connecting' || state.phase === 'greeting')
    return failed(state, unreachable(STAGE_OF_PHASE[state.phase], CONNECT_DEADLINE_MS), moment);
  if (state.waitingSinceMs !== null && nowMs - state.waitingSinceMs >= OUTCOME_DEADLINE_MS) {
    return failed(state, unreachable('outcome', OUTCOME_DEADLINE_MS), moment, 'outcome');
  }
  if (state.deliverySinceMs !== null && nowMs - state.deliverySinceMs >= DELIVERY_DEADLINE_MS) {
    return failed(state, unreachable('delivery', DELIVERY_DEADLINE_MS), moment, 'delivery');
  }
  if (state.checkUntilMs !== null && nowMs >= state.checkUntilMs)
    return failed(state, unreachable('silence', CHECK_DEADLINE_MS), moment);
  const silentMs = nowMs - (state.lastHeardMs ?? nowMs);
  if (silentMs >= SILENCE_LIMIT_MS) return failed(state, unreachable('silence', SILENCE_LIMIT_MS), moment);
  if (state.pingSentMs === null && silentMs >= PING_INTERVAL_MS) {
    return { state: scheduled({ ...state, pingSentMs: nowMs }), effects: [{ type: 'ping' }] };
  }
  return { state: scheduled(state), effects: [] };
}

/** Without a check, a cut network is noticed only when pings stay unanswered (SILENCE_LIMIT_MS). */
function checking(state: MachineState, { nowMs }: Moment): Step {
  return {
    state: scheduled({ ...state, pingSentMs: nowMs, checkUntilMs: nowMs + CHECK_DEADLINE_MS }),
    effects: [{ type: 'ping' }],
  };
}

/** Gives up a snapshot whose download hangs. */
function withoutSnapshot(state: MachineState, moment: Moment): Step {
  const { stage, withinMs } = state.snapshotWait;
  const step = connecting(state, moment);
  const error = new RockpoolError('snapshot-unavailable', { stage, waitedMs: withinMs + SNAPSHOT_GRACE_MS }).toData();
  return { state: step.state, effects: [{ type: 'give-up-snapshot', error }, { type: 'disconnect' }, ...step.effects] };
}

/** The stage that each connection phase waits for. */
const STAGE_OF_PHASE = { authorizing: 'token', connecting: 'socket', greeting: 'welcome' } as const;

/** The current wait, in monotonic time. Null if there is none, or only the wait for the next attempt. */
export function waitOf(state: MachineState): SyncWait | null {
  const { phase, phaseSinceMs, snapshotWait, caughtUp, deliverySinceMs, waitingSinceMs } = state;
  switch (phase) {
    case 'authorizing':
    case 'connecting':
    case 'greeting':
      return { stage: STAGE_OF_PHASE[phase], sinceMs: phaseSinceMs, deadlineMs: phaseSinceMs + CONNECT_DEADLINE_MS };
    case 'fetching':
      return { stage: snapshotWait.stage, sinceMs: phaseSinceMs, deadlineMs: phaseSinceMs + snapshotWait.withinMs };
    case 'live':
      if (deliverySinceMs !== null && (!caughtUp || waitingSinceMs === null))
        return { stage: 'delivery', sinceMs: deliverySinceMs, deadlineMs: deliverySinceMs + DELIVERY_DEADLINE_MS };
      return waitingSinceMs === null
        ? null
        : { stage: 'outcome', sinceMs: waitingSinceMs, deadlineMs: waitingSinceMs + OUTCOME_DEADLINE_MS };
    default:
      return null;
  }
}

/** The stage names what was missing at the deadline. */
function unreachable(stage: WaitStage | 'silence', waitedMs: number): ErrorData {
  return new RockpoolError('network-unreachable', { stage, waitedMs }).toData();
}

/** `stage` is the stage at which sync is stuck although there is a connection. */
function failed(
  state: MachineState,
  trouble: ErrorData,
  { nowMs, random }: Moment,
  stage: SyncStage | null = null,
): Step {
  const failures = state.failures + 1;
  const failing = stage === null ? state.failing : failedAgain(state.failing, stage, trouble);
  const restart: Effect[] =
    stage !== null && failing !== null && remedyOf(failing) === 'restart' ? [{ type: 'restart' }] : [];
  const waitMs = retryDelayMs(trouble, Math.max(failures, failing?.stage === 'outcome' ? failing.times : 0), random);
  return {
    state: {
      ...state,
      phase: 'waiting',
      failures,
      failing,
      trouble,
      wakeAtMs: nowMs + waitMs,
      pingSentMs: null,
      waitingSinceMs: null,
      deliverySinceMs: null,
    },
    effects: [{ type: 'disconnect' }, ...(newSite(trouble) ?? []), ...restart],
  };
}

/**
 * The server names the first changeset that differs. From there on, the local changesets were never sent and belong to
 * this copy.
 */
function newSite({ code, fields }: ErrorData): Effect[] | null {
  return code === 'site-copied' && typeof fields['sequence'] === 'number'
    ? [{ type: 'become-new-site', firstOwn: fields['sequence'] }]
    : null;
}

/** Whether the next hello asks for a full resync, because incremental deliveries do not repair the local state. */
export function asksFullResync({ failing }: MachineState): boolean {
  return failing !== null && failing.stage !== 'outcome' && remedyOf(failing) !== 'reconnect';
}

export function mayPush(state: MachineState): boolean {
  return state.phase === 'live' && state.canWrite && !state.awaitsWhole && !state.awaitsOutcomes && !state.copied;
}

/** The next time at which a live connection needs attention, for a ping, a deadline or an overdue outcome. */
function scheduled(state: MachineState): MachineState {
  const heardMs = state.lastHeardMs ?? 0;
  const moments = [heardMs + (state.pingSentMs === null ? PING_INTERVAL_MS : SILENCE_LIMIT_MS)];
  if (state.checkUntilMs !== null) moments.push(state.checkUntilMs);
  if (state.waitingSinceMs !== null) moments.push(state.waitingSinceMs + OUTCOME_DEADLINE_MS);
  if (state.deliverySinceMs !== null) moments.push(state.deliverySinceMs + DELIVERY_DEADLINE_MS);
  return { ...state, wakeAtMs: Math.min(...moments) };
}
