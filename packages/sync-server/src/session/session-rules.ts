import type { ClientMessage, ErrorCode } from '@rockpool/shared';
import type { Operation } from '../auth/role.ts';
import type { SessionLimits } from './limits.ts';

/*
 *   awaiting-hello ──hello──► authenticating ──token, database, log fit──► open ──► closed
 *         └───────────────────────┴────────── failure, deadline, end ──────┴─────────►
 */
export type SessionPhase = 'awaiting-hello' | 'authenticating' | 'open' | 'closed';

export interface SessionClock {
  readonly phase: SessionPhase;
  readonly openedAtMs: number;
  readonly lastHeardMs: number;
  /** Of the token; Infinity before there is one. */
  readonly expiresAtMs: number;
}

/** What a message asks to be allowed. Every one is asked about anew, not once for the connection. */
export const OPERATION_OF_MESSAGE: Readonly<Record<ClientMessage['type'], Operation>> = {
  hello: 'read',
  push: 'write',
  confirm: 'read',
  audit: 'read',
  // Who may only look on is seen, too.
  presence: 'read',
  'renew-token': 'read',
  ping: 'read',
};

/** A session that only listens is asked about this often: what is taken away is gone within 5 s. */
export const REAUTHORIZE_INTERVAL_MS = 2_000;

/** What is wrong with a message in this phase, or null. `held`: it waits until the one before it is dealt with. */
export function messageProblem(phase: SessionPhase, type: ClientMessage['type']): ErrorCode | 'held' | null {
  if (phase === 'awaiting-hello') return type === 'hello' ? null : 'frame-unexpected';
  if (type === 'hello') return 'frame-unexpected';
  return phase === 'authenticating' ? 'held' : null;
}

/**
 * Whose time is up: the failure to end the session with, `silent` for a connection that is as good as dead, or null.
 */
export function overdue(clock: SessionClock, limits: SessionLimits, nowMs: number): ErrorCode | 'silent' | null {
  if (clock.phase === 'closed') return null;
  if (nowMs >= clock.expiresAtMs) return 'auth-token-expired';
  if (clock.phase !== 'open') return nowMs - clock.openedAtMs >= limits.helloDeadlineMs ? 'silent' : null;
  return nowMs - clock.lastHeardMs >= limits.silenceLimitMs ? 'silent' : null;
}
