import { PING_INTERVAL_MS, SILENCE_LIMIT_MS } from '@rockpool/shared';
import type { SyncWait, WaitStage } from '../../rpc/sync-status.ts';
import type { MachineState, Phase } from './sync-state.ts';

// How long the sync machine waits for each of its stages, and when it next checks them.

/** The limit for each of the token, the opening of the socket and the welcome. Each takes a round trip or two. */
export const CONNECT_DEADLINE_MS = 15_000;

/**
 * If a push has no outcome for this long after the network has taken it, a new connection is opened: the push may have
 * been lost, and sending it again is harmless.
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

/** The stage that each connection phase waits for. */
export const STAGE_OF_PHASE: Readonly<Partial<Record<Phase, WaitStage>>> = {
  authorizing: 'token',
  connecting: 'socket',
  greeting: 'welcome',
};

/** The current wait, in monotonic time. Null if there is none, or only the wait for the next attempt. */
export function waitOf(state: MachineState): SyncWait | null {
  const { phase, phaseSinceMs, snapshotWait, caughtUp, deliverySinceMs, waitingSinceMs } = state;
  const wait = (stage: WaitStage, sinceMs: number, withinMs: number): SyncWait => ({
    stage,
    sinceMs,
    deadlineMs: sinceMs + withinMs,
  });
  const stage = STAGE_OF_PHASE[phase];
  if (stage !== undefined) return wait(stage, phaseSinceMs, CONNECT_DEADLINE_MS);
  if (phase === 'fetching') return wait(snapshotWait.stage, phaseSinceMs, snapshotWait.withinMs);
  if (phase !== 'live') return null;
  if (deliverySinceMs !== null && (!caughtUp || waitingSinceMs === null))
    return wait('delivery', deliverySinceMs, DELIVERY_DEADLINE_MS);
  return waitingSinceMs === null ? null : wait('outcome', waitingSinceMs, OUTCOME_DEADLINE_MS);
}

/** When a live connection next needs attention, for a ping, a deadline or an overdue outcome. */
export function scheduled(state: MachineState): MachineState {
  const moments = [state.pingSentMs + PING_INTERVAL_MS, state.lastMovedMs + SILENCE_LIMIT_MS];
  if (state.checkUntilMs !== null) moments.push(state.checkUntilMs);
  if (state.waitingSinceMs !== null) moments.push(state.waitingSinceMs + OUTCOME_DEADLINE_MS);
  if (state.deliverySinceMs !== null) moments.push(state.deliverySinceMs + DELIVERY_DEADLINE_MS);
  if (state.refusal !== null) moments.push(state.refusal.untilMs);
  return { ...state, wakeAtMs: Math.min(...moments) };
}
