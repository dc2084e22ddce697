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
  /** When the connection began, and when the client was last heard, on the monotonic clock. */
  readonly beganMs: number;
  readonly heardAtMs: number;
  /** Expiry of the token on the wall clock; Infinity before the session has one. */
  readonly expiresAtMs: number;
}

/** The present moment on both clocks. A wall clock that is set must neither keep dead connections nor end others. */
export interface Present {
  readonly wallMs: number;
  readonly monotonicMs: number;
}

/** The permission that a message needs. It is checked for every message, not once per connection. */
export const OPERATION_OF_MESSAGE: Readonly<Record<ClientMessage['type'], Operation>> = {
  hello: 'read',
  push: 'write',
  confirm: 'read',
  audit: 'read',
  // Read-only users are visible too.
  presence: 'read',
  'renew-token': 'read',
  ping: 'read',
};

/** How often the rights of a session that sends nothing are checked. A revocation takes effect within 5 s. */
export const REAUTHORIZE_INTERVAL_MS = 2_000;

/**
 * How long a client waits for the welcome while its database is opened. Less than the 15 s after which it gives up, so
 * that it learns the reason, and more than the time of the checks of its token (auth/gate.ts). The database is opened
 * in any case, and the next session of the client finds it open.
 */
export const WELCOME_WITHIN_MS = 12_500;

/** The problem of a message in this phase, or null. `held` if the message has to wait for the previous one. */
export function messageProblem(phase: SessionPhase, type: ClientMessage['type']): ErrorCode | 'held' | null {
  if (phase === 'awaiting-hello') return type === 'hello' ? null : 'frame-unexpected';
  if (type === 'hello') return 'frame-unexpected';
  return phase === 'authenticating' ? 'held' : null;
}

/**
 * The failure of a session past a deadline, `silent` for a dead connection, or null. The deadline of the hello ends
 * with its arrival: a client is not silent while the server opens its database.
 */
export function overdue(clock: SessionClock, limits: SessionLimits, now: Present): ErrorCode | 'silent' | null {
  const { phase, beganMs, heardAtMs, expiresAtMs } = clock;
  if (phase === 'closed') return null;
  if (now.wallMs >= expiresAtMs) return 'auth-token-expired';
  if (phase === 'awaiting-hello') return now.monotonicMs - beganMs >= limits.helloDeadlineMs ? 'silent' : null;
  if (phase === 'authenticating' && now.monotonicMs - heardAtMs >= WELCOME_WITHIN_MS) return 'database-unavailable';
  return now.monotonicMs - heardAtMs >= limits.silenceLimitMs ? 'silent' : null;
}
