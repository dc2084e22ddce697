import type { ErrorData } from '@rockpool/shared';
import type { StuckStage, SyncRemedy, SyncStage } from '../../rpc/sync-status.ts';

/*
 * A stage that fails repeatedly despite a connection needs more than another attempt:
 *
 * once: the ordinary attempt   from 2: the status names it   from 3: a full resync   from 6: a restart of the worker
 */
const NAMED_FROM = 2;
const RELOAD_FROM = 3;
const RESTART_FROM = 6;

/** The stage where sync failed, and how often in a row. */
export interface Failing {
  readonly stage: SyncStage;
  readonly times: number;
  readonly error: ErrorData;
}

export function failedAgain(before: Failing | null, stage: SyncStage, error: ErrorData): Failing {
  return { stage, times: before?.stage === stage ? before.times + 1 : 1, error };
}

/** The next remedy. */
export function remedyOf({ stage, times, error }: Failing): SyncRemedy {
  // If the server does not acknowledge, the client can only send again.
  if (stage === 'outcome') return 'resend';
  if (times >= RESTART_FROM) return 'restart';
  return (times >= RELOAD_FROM && mayReload(error)) || stage === 'audit' ? 'reload' : 'reconnect';
}

/** A full device has no room for a full resync. It would be downloaded again at each attempt, in vain. */
export function mayReload({ recovery }: ErrorData): boolean {
  return recovery !== 'free-space';
}

/** Shown in the status; null while an ordinary retry may fix it. */
export function stuckStage(failing: Failing | null): StuckStage | null {
  if (failing === null || (failing.times < NAMED_FROM && failing.stage !== 'audit')) return null;
  const { stage, times, error } = failing;
  return { stage, times, error, next: remedyOf(failing) };
}
