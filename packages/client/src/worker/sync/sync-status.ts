import { RockpoolError, type ErrorData } from '@rockpool/shared';
import type { StuckStage, SyncState, SyncWait } from '../../rpc/sync-status.ts';
import { isServerTrouble } from './retry-delay.ts';
import { stuckStage } from './stuck-stage.ts';
import { waitOf } from './sync-deadlines.ts';
import type { MachineState } from './sync-state.ts';

/** Sync's contribution to the status of the tab. */
export interface SyncReport {
  readonly state: SyncState;
  readonly pendingCount: number;
  readonly rejectedCount: number;
  readonly sentUpTo: number | null;
  /** Why sync is not connected, or why nothing is pushed. `nextAttemptMs` is the wall time of the next attempt. */
  readonly reason: ErrorData | null;
  readonly userMayWrite: boolean | null;
  readonly waitingFor: SyncWait | null;
  readonly stuck: StuckStage | null;
  readonly lastContactMs: number | null;
  readonly clockOffsetMs: number | null;
  readonly clockWrong: boolean;
}

/**
 * A smaller offset may be network delay. From this offset on, dates entered by users are wrong and fresh tokens look
 * expired.
 */
export const CLOCK_WRONG_MS = 60_000;

export interface OutboxCounts {
  readonly pendingCount: number;
  readonly rejectedCount: number;
}

/**
 * The sync state for users. `up-to-date` requires an applied first delivery, an empty outbox and applied outcomes.
 * `wallAheadMs`: the device's wall clock minus the monotonic time.
 */
export function syncReport(machine: MachineState, outbox: OutboxCounts, wallAheadMs = 0): SyncReport {
  const { lastHeardMs } = machine;
  return {
    state: stateName(machine, outbox),
    ...outbox,
    sentUpTo: machine.phase === 'live' ? machine.sentUpTo : null,
    reason: reasonOf(machine, outbox, wallAheadMs),
    userMayWrite: machine.canWrite,
    waitingFor: onWall(waitOf(machine), wallAheadMs),
    stuck: stuckStage(machine.failing),
    lastContactMs: lastHeardMs === null ? null : Math.round(lastHeardMs + wallAheadMs),
    clockOffsetMs: machine.clockOffsetMs,
    clockWrong: Math.abs(machine.clockOffsetMs ?? 0) >= CLOCK_WRONG_MS,
  };
}

/** Failures in a row after which the state stays `offline` during attempts instead of flickering. */
const OFFLINE_FROM = 2;

function stateName(machine: MachineState, { pendingCount }: OutboxCounts): SyncState {
  const { phase, failures, trouble, canWrite, caughtUp } = machine;
  if (phase === 'paused') return 'paused';
  if (phase === 'live') {
    if (caughtUp && pendingCount === 0) return 'up-to-date';
    if (serverTrouble(machine) !== null) return 'unavailable';
    if (machine.refusal !== null) return 'blocked';
    if (!caughtUp) return 'connecting';
    return canWrite ? 'pushing' : 'blocked';
  }
  // A failure that a retry does not fix keeps its state during the next attempt instead of flickering.
  if (trouble?.recovery === 'reauthenticate') return 'needs-auth';
  if (trouble !== null && trouble.recovery !== 'retry') return 'blocked';
  if (trouble !== null && serverTrouble(machine) !== null) return 'unavailable';
  if (phase === 'waiting' || phase === 'stopped') return 'offline';
  return trouble !== null && failures >= OFFLINE_FROM ? 'offline' : 'connecting';
}

/**
 * Why the server cannot serve this database. On a live connection, this is why an earlier connection ended while an
 * outcome was missing, until outcomes arrive.
 */
function serverTrouble({ phase, trouble, failing, refusal }: MachineState): ErrorData | null {
  const error = phase === 'live' ? (refusal?.error ?? (failing?.stage === 'outcome' ? failing.error : null)) : trouble;
  return error !== null && isServerTrouble(error.code) ? error : null;
}

function reasonOf(machine: MachineState, { pendingCount }: OutboxCounts, wallAheadMs: number): ErrorData | null {
  const { phase, trouble, refusal, canWrite, wakeAtMs } = machine;
  const withNextAttempt = (error: ErrorData, atMs: number): ErrorData => ({
    ...error,
    fields: { ...error.fields, nextAttemptMs: Math.round(atMs + wallAheadMs) },
  });
  if (phase !== 'live')
    return trouble === null || phase !== 'waiting' || wakeAtMs === null ? trouble : withNextAttempt(trouble, wakeAtMs);
  if (pendingCount === 0) return null;
  if (refusal !== null) return withNextAttempt(refusal.error, refusal.untilMs);
  return serverTrouble(machine) ?? (canWrite ? null : READ_ONLY);
}

function onWall(wait: SyncWait | null, wallAheadMs: number): SyncWait | null {
  return (
    wait && {
      ...wait,
      sinceMs: Math.round(wait.sinceMs + wallAheadMs),
      deadlineMs: Math.round(wait.deadlineMs + wallAheadMs),
    }
  );
}

const READ_ONLY: ErrorData = new RockpoolError('auth-forbidden', { operation: 'write' }).toData();
