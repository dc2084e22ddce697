import type { WaitStage } from '../../rpc/sync-status.ts';

/** The stage of a snapshot wait, and its limit. */
export interface SnapshotWait {
  readonly stage: Extract<WaitStage, 'token' | `snapshot-${string}`>;
  readonly withinMs: number;
}

/** The token for a download. */
export const SNAPSHOT_TOKEN_TTL_MS = 15_000;

/** The first byte of an answer: a server that has the file or is building it answers within a round trip. */
export const FIRST_BYTE_TIMEOUT_MS = 3_000;

/** The server may build the file first: 15 s for a million rows, and other databases may be queued before it. */
export const BUILD_TIMEOUT_MS = 60_000;

/** The next bytes. Less than the ten seconds that other tabs wait for a sign of the opening tab. */
export const NEXT_BYTES_TIMEOUT_MS = 8_000;

/** Unpacking and storing the next MiB, on a slow device. */
export const STORE_TIMEOUT_MS = 30_000;

/** Before the first event of the download. */
export const FIRST_SNAPSHOT_WAIT: SnapshotWait = { stage: 'token', withinMs: SNAPSHOT_TOKEN_TTL_MS };
