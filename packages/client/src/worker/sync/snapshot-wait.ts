import type { WaitStage } from '../../rpc/sync-status.ts';

/** What of a snapshot is awaited, and for how long. */
export interface SnapshotWait {
  readonly stage: Extract<WaitStage, 'token' | `snapshot-${string}`>;
  readonly withinMs: number;
}

/** The token for a download. */
export const SNAPSHOT_TOKEN_TTL_MS = 15_000;

/** The first byte of an answer: a server that has the file, or says that it is building it, needs a round trip. */
export const FIRST_BYTE_TIMEOUT_MS = 3_000;

/** A server may build the file first: 15 s for a million rows, and other databases may be before it. */
export const BUILD_TIMEOUT_MS = 60_000;

/** The next bytes. Less than the ten seconds that another tab waits for a sign of the one that opens the database. */
export const NEXT_BYTES_TIMEOUT_MS = 8_000;

/** Unpacking and storing the next MiB, on a slow device. */
export const STORE_TIMEOUT_MS = 30_000;

/** Before the download has said anything. */
export const FIRST_SNAPSHOT_WAIT: SnapshotWait = { stage: 'token', withinMs: SNAPSHOT_TOKEN_TTL_MS };
