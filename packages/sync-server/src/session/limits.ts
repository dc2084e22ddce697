import { HELLO_DEADLINE_MS, SILENCE_LIMIT_MS } from '@rockpool/shared';

/** What one server takes from its clients. The sizes that both sides agree on are in shared/protocol/limits.ts. */
export interface SessionLimits {
  readonly helloDeadlineMs: number;
  readonly silenceLimitMs: number;
  /**
   * Frames of one session: this many at once, and this many a second in the long run. More ends it with `rate-limited`.
   */
  readonly frameBurst: number;
  readonly framesPerSecond: number;
  /** All sockets of the server; more are refused before the upgrade (503). */
  readonly maxSockets: number;
  /** Sessions of one principal; more end with `too-many-connections`. */
  readonly maxSessionsPerPrincipal: number;
  /** What a client may leave unread before it is cut with `slow-consumer`; it catches up by its cursor. */
  readonly maxUnreadBytes: number;
}

/**
 * The deadlines are those that clients know. A client that works through its outbox sends a frame per 256 KiB, one that
 * types a few a second: 500 are out of reach for both. A socket takes some 20 KB, so 10,000 fit into 200 MB. A person
 * has few devices, a program with one token for a team many. 4 MiB unread are some seconds of a slow phone.
 */
export const SESSION_LIMITS: SessionLimits = {
  helloDeadlineMs: HELLO_DEADLINE_MS,
  silenceLimitMs: SILENCE_LIMIT_MS,
  frameBurst: 5_000,
  framesPerSecond: 500,
  maxSockets: 10_000,
  maxSessionsPerPrincipal: 1_000,
  maxUnreadBytes: 4 * 1024 * 1024,
};
