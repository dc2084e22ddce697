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
  /** Expiry of the token; Infinity before the session has one. */
  readonly expiresAtMs: number;
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

/** The problem of a message in this phase, or null. `held` if the message has to wait for the previous one. */
export function messageProblem(phase: SessionPhase, type: ClientMessage['type']): ErrorCode | 'held' | null {
  if (phase === 'awaiting-hello') return type === 'hello' ? null : 'frame-unexpected';
  if (type === 'hello') return 'frame-unexpected';
  return phase === 'authenticating' ? 'held' : null;
}

/**
 * The failure of a session past a deadline, `silent` for a dead connection, or null. The deadline of the hello ends
 * with its arrival: a client is not silent while the server opens its database, which may take a long time.
 */
export function overdue(clock: SessionClock, limits: SessionLimits, nowMs: number): ErrorCode | 'silent' | null {
  if (clock.phase === 'closed') return null;
  if (nowMs >= clock.expiresAtMs) return 'auth-token-expired';
  if (clock.phase === 'awaiting-hello') return nowMs - clock.openedAtMs >= limits.helloDeadlineMs ? 'silent' : null;
  return nowMs - clock.lastHeardMs >= limits.silenceLimitMs ? 'silent' : null;
}
