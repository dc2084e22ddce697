import {
  PING_INTERVAL_MS,
  RockpoolError,
  SILENCE_LIMIT_MS,
  type ErrorData,
  type ErrorFields,
  type ServerMessage,
  type Welcome,
} from '@rockpool/shared';
import type { SyncStage, WaitStage } from '../../rpc/sync-status.ts';
import { isRefusalOfPush, isServerTrouble, retryDelayMs } from './retry-delay.ts';
import { FIRST_SNAPSHOT_WAIT, type SnapshotWait } from './snapshot-wait.ts';
import { failedAgain, remedyOf, type Failing } from './stuck-stage.ts';
import {
  CHECK_DEADLINE_MS,
  CONNECT_DEADLINE_MS,
  DELIVERY_DEADLINE_MS,
  OUTCOME_DEADLINE_MS,
  scheduled,
  SNAPSHOT_GRACE_MS,
  STAGE_OF_PHASE,
} from './sync-deadlines.ts';
import {
  INITIAL_STATE,
  mayPush,
  type Deliveries,
  type Effect,
  type MachineEvent,
  type MachineState,
} from './sync-state.ts';

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
 *  1. Every phase but `stopped` and `paused` has a time when something happens without an event (`wakeAtMs`), so
 *     nothing waits forever.
 *  2. `trouble` is why the last connection ended. The status shows it until a connection is live again.
 *  3. Nothing is pushed while a full resync or outcomes are awaited. The resync decides what is pending, and a missing
 *     outcome means that this file is a copy, whose own changesets need a new site id.
 *  4. No delivery is applied while the changesets of a copied file are compared: its outcomes belong to another copy.
 *  5. `failing` is the stage that fails repeatedly despite a connection; stuck-stage.ts says which remedy is next.
 *  6. `sentUpTo` belongs to one connection. On a new connection, the server states from where to push.
 *  7. A push that the server refuses ends its connection. The next one opens at once, and only the push waits
 *     (`refusal`).
 *  8. An expired token ends its connection. The next one opens at once, without `trouble`.
 */

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
      if (state.phase === 'waiting') return connecting({ ...state, refusal: null }, moment);
      return state.phase === 'live' && state.refusal !== null ? pushingAgain(state) : { state, effects: [] };
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
    case 'progress':
      if (state.phase !== 'live') return { state, effects: [] };
      return { state: scheduled(progressed(event.isReceived ? hearing(state, moment) : state, moment)), effects: [] };
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
  const { lastHeardMs, clockOffsetMs, canWrite } = state;
  return {
    state: { ...INITIAL_STATE, phase, lastHeardMs, clockOffsetMs, canWrite },
    effects: [{ type: 'disconnect' }],
  };
}

/**
 * Reconnects at once, or only at the next attempt if several attempts have failed in a row. What the server refused may
 * no longer be in the outbox, so the next push does not wait.
 */
function renumbered(state: MachineState, moment: Moment): Step {
  if (state.phase === 'waiting' && state.failures > 1) return { state, effects: [] };
  const step = connecting({ ...state, trouble: null, refusal: null }, moment);
  return { state: step.state, effects: [{ type: 'disconnect' }, ...step.effects] };
}

function connecting(state: MachineState, moment: Moment): Step {
  const next = awaiting(state, 'authorizing', moment);
  return {
    state: {
      ...next,
      waitingSinceMs: null,
      deliverySinceMs: null,
      awaitsWhole: false,
      copied: false,
    },
    effects: [{ type: 'connect' }],
  };
}

/** Moves to the next phase of connecting, and starts its deadline. */
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
  return { ...state, lastHeardMs: nowMs, lastMovedMs: nowMs, checkUntilMs: null };
}

/**
 * Restarts the deadlines. On a slow network, a long message may take longer than any of them, and everything behind it
 * waits: pongs, outcomes, deliveries.
 */
function progressed(state: MachineState, { nowMs }: Moment): MachineState {
  return {
    ...state,
    lastMovedMs: nowMs,
    waitingSinceMs: state.waitingSinceMs && nowMs,
    deliverySinceMs: state.deliverySinceMs && nowMs,
  };
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
    refusal: welcome.canWrite ? state.refusal : null,
    pingSentMs: moment.nowMs,
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
            state: scheduled({ ...progressed(state, moment), deliverySinceMs: moment.nowMs }),
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
    return unexpected(state, { problem: 'the announced full resync is missing' }, moment);
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
 * Handles a connection that the server has ended, with its reason. While an outcome is missing, the reason counts as a
 * failure of the outcome stage: otherwise a server that welcomes clients but cannot store anything would be retried at
 * full speed forever.
 */
function refused(state: MachineState, error: ErrorData, moment: Moment): Step {
  const step = failed(
    state,
    error,
    moment,
    state.waitingSinceMs !== null && isServerTrouble(error.code) ? 'outcome' : null,
  );
  if (state.phase !== 'live') return step;
  // The normal end of a session. Only the failure of a new token shows that a sign-in is needed.
  const isExpiry = error.code === 'auth-token-expired' && state.failures === 0;
  if (!isExpiry && (state.refusal !== null || !isRefusalOfPush(error.code))) return step;
  const change = isExpiry ? { trouble: null } : { refusal: { error, untilMs: step.state.wakeAtMs ?? 0 } };
  const next = connecting({ ...step.state, ...change }, moment);
  return { state: next.state, effects: [...step.effects, ...next.effects] };
}

function pushingAgain(state: MachineState): Step {
  const next = scheduled({ ...state, refusal: null });
  return { state: next, effects: mayPush(next) ? [{ type: 'push', after: next.sentUpTo }] : [] };
}

/** A delivery that acknowledges further changesets ends a failure at the outcome stage. */
function failingAfter({ failing, lastAckedSequence }: MachineState, decidedNow: number): Failing | null {
  return failing?.stage === 'outcome' && decidedNow > lastAckedSequence ? null : failing;
}

function wake(state: MachineState, moment: Moment): Step {
  const { nowMs } = moment;
  if (state.wakeAtMs === null || nowMs < state.wakeAtMs) return { state, effects: [] };
  if (state.phase === 'waiting') return connecting(state, moment);
  if (state.phase === 'fetching') return withoutSnapshot(state, moment);
  const stage = STAGE_OF_PHASE[state.phase];
  if (stage !== undefined) return failed(state, unreachable(stage, CONNECT_DEADLINE_MS), moment);
  if (state.waitingSinceMs !== null && nowMs - state.waitingSinceMs >= OUTCOME_DEADLINE_MS) {
    return failed(state, unreachable('outcome', OUTCOME_DEADLINE_MS), moment, 'outcome');
  }
  if (state.deliverySinceMs !== null && nowMs - state.deliverySinceMs >= DELIVERY_DEADLINE_MS) {
    return failed(state, unreachable('delivery', DELIVERY_DEADLINE_MS), moment, 'delivery');
  }
  if (state.checkUntilMs !== null && nowMs >= state.checkUntilMs)
    return failed(state, unreachable('silence', CHECK_DEADLINE_MS), moment);
  if (nowMs - state.lastMovedMs >= SILENCE_LIMIT_MS)
    return failed(state, unreachable('silence', SILENCE_LIMIT_MS), moment);
  if (state.refusal !== null && nowMs >= state.refusal.untilMs) return pushingAgain(state);
  // Even if messages arrive: a client that only receives would otherwise send nothing, and the server would close the
  // connection.
  if (nowMs - state.pingSentMs >= PING_INTERVAL_MS)
    return { state: scheduled({ ...state, pingSentMs: nowMs }), effects: [{ type: 'ping' }] };
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

/** The stage names what was missing at the deadline. */
function unreachable(stage: WaitStage | 'silence', waitedMs: number): ErrorData {
  return new RockpoolError('network-unreachable', { stage, waitedMs }).toData();
}

/** `stage` is where sync is stuck despite a connection. */
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
