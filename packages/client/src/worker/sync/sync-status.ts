import type { ErrorData } from '@rockpool/shared';
import type { StuckStage, SyncState } from '../../rpc/sync-status.ts';
import { stuckStage } from './stuck-stage.ts';
import type { MachineState } from './sync-machine.ts';

/** What sync knows for the status of the tab. */
export interface SyncReport {
  readonly state: SyncState;
  readonly pendingCount: number;
  readonly parkedCount: number;
  readonly sentUpTo: number | null;
  /** While not connected: why, with `nextAttemptMs`, the wall time of the next attempt. */
  readonly reason: ErrorData | null;
  readonly stuck: StuckStage | null;
  readonly lastContactMs: number | null;
  readonly clockOffsetMs: number | null;
  readonly clockWrong: boolean;
}

/** Less may be the network; from here on dates that a person enters are wrong, and fresh tokens look expired. */
export const CLOCK_WRONG_MS = 60_000;

export interface OutboxCounts {
  readonly pendingCount: number;
  readonly parkedCount: number;
}

/**
 * The name of a state for people. `up-to-date` is said only when the first delivery is applied, nothing waits here and the outcomes are applied.
 * `wallAheadMs`: how far the device's clock is ahead of the machine's time.
 */
export function syncReport(machine: MachineState, outbox: OutboxCounts, wallAheadMs = 0): SyncReport {
  const { lastHeardMs } = machine;
  return {
    state: stateName(machine, outbox),
    ...outbox,
    sentUpTo: machine.phase === 'live' ? machine.sentUpTo : null,
    reason: reasonOf(machine, outbox, wallAheadMs),
    stuck: stuckStage(machine.failing),
    lastContactMs: lastHeardMs === null ? null : Math.round(lastHeardMs + wallAheadMs),
    clockOffsetMs: machine.clockOffsetMs,
    clockWrong: Math.abs(machine.clockOffsetMs ?? 0) >= CLOCK_WRONG_MS,
  };
}

function stateName({ phase, trouble, canWrite, caughtUp }: MachineState, { pendingCount }: OutboxCounts): SyncState {
  if (phase === 'live') {
    if (!caughtUp) return 'connecting';
    if (pendingCount === 0) return 'up-to-date';
    return canWrite ? 'pushing' : 'blocked';
  }
  if (phase === 'paused') return 'paused';
  // A trouble that trying alone does not mend keeps its name while the next attempt runs, instead of flickering.
  if (trouble?.recovery === 'reauthenticate') return 'needs-auth';
  if (trouble !== null && trouble.recovery !== 'retry') return 'blocked';
  return phase === 'connecting' || phase === 'greeting' ? 'connecting' : 'offline';
}

function reasonOf({ phase, trouble, canWrite, wakeAtMs }: MachineState, { pendingCount }: OutboxCounts, wallAheadMs: number): ErrorData | null {
  if (phase === 'live') return canWrite || pendingCount === 0 ? null : READ_ONLY;
  if (trouble === null || phase !== 'waiting' || wakeAtMs === null) return trouble;
  return { ...trouble, fields: { ...trouble.fields, nextAttemptMs: Math.round(wakeAtMs + wallAheadMs) } };
}

const READ_ONLY: ErrorData = {
  code: 'auth-forbidden',
  fields: { operation: 'write' },
  recovery: 'ask-user',
  message: 'The token allows reading only; local changes wait.',
};
