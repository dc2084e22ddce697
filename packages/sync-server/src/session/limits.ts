import { HELLO_DEADLINE_MS, SILENCE_LIMIT_MS } from '@rockpool/shared';
import type { WaitingRoomLimits } from './waiting-room.ts';

/** Limits of one server for its clients. Sizes that both sides share are in shared/protocol/limits.ts. */
export interface SessionLimits extends WaitingRoomLimits {
  /** How long a new connection may take to send its hello. After that the server closes it. */
  readonly helloDeadlineMs: number;
  /** How long a session may send nothing, not even a ping. After that the server closes its connection. */
  readonly silenceLimitMs: number;
  /** The maximum number of frames that one session may send at once. Further frames end it with `rate-limited`. */
  readonly frameBurst: number;
  /**
   * The maximum number of frames that one session may send per second in the long run. Further frames end it with
   * `rate-limited`.
   */
  readonly framesPerSecond: number;
  /**
   * The maximum number of members and invitations that one principal may change at once by requests. Further requests
   * get `rate-limited`.
   */
  readonly memberChangeBurst: number;
  /** The maximum number of such changes per second in the long run. Further requests get `rate-limited`. */
  readonly memberChangesPerSecond: number;
  /** The maximum number of sockets with a valid token. Further sockets are refused before the upgrade (503). */
  readonly maxSockets: number;
  /** The maximum number of sessions of one principal. Further sessions end with `too-many-connections`. */
  readonly maxSessionsPerPrincipal: number;
  /**
   * The maximum number of bytes of all sessions of one principal that are received and not finished: parts of messages,
   * messages whose permission is being checked, and pushes that wait for their commit. The session that exceeds it ends
   * with `rate-limited`.
   */
  readonly maxReceivedBytesPerPrincipal: number;
  /**
   * The maximum number of bytes that a client may leave unread. Further bytes end the session with `slow-consumer`; the
   * client catches up from its cursor. A batch that exceeds the limit, such as a large catch-up, is not counted while
   * the client reads it.
   */
  readonly maxUnreadBytes: number;
}

/**
 * Clients assume the same deadlines. A client that empties its outbox sends one frame per 256 KiB, and a client whose
 * user types sends a few frames per second: both stay far below 500 frames per second. Each change of members waits for
 * the disk, on the thread that accepts connections if they are in a file, and is announced to all instances; a script
 * that adds the members of a school requests a few hundred. A socket takes some 20 KB, so 10,000 sockets take 200 MB. A
 * person has few devices; a program with one token for a team has many. A client has at most a megabyte in flight, or
 * one changeset of up to 48 MiB. A hello takes a few milliseconds, so an office of 1,000 people that reconnects at once
 * has few connections without a token. A slow phone connection takes a few seconds for 4 MiB.
 */
export const SESSION_LIMITS: SessionLimits = {
  helloDeadlineMs: HELLO_DEADLINE_MS,
  silenceLimitMs: SILENCE_LIMIT_MS,
  frameBurst: 5_000,
  framesPerSecond: 500,
  memberChangeBurst: 500,
  memberChangesPerSecond: 10,
  maxSockets: 10_000,
  maxUnauthenticated: 2_000,
  maxUnauthenticatedPerAddress: 200,
  maxSessionsPerPrincipal: 1_000,
  maxReceivedBytesPerPrincipal: 512 * 1024 * 1024,
  maxUnreadBytes: 4 * 1024 * 1024,
};
