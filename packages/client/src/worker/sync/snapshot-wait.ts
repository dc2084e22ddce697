import type { WaitStage } from '../../rpc/sync-status.ts';

/** The stage of a wait for a snapshot, and its limit. */
export interface SnapshotWait {
  readonly stage: Extract<WaitStage, 'token' | `snapshot-${string}`>;
  readonly withinMs: number;
}

/** The limit for the token of a download. */
export const SNAPSHOT_TOKEN_TTL_MS = 15_000;

/**
 * The limit for the first byte of a response. A server that has the file, or is building it, answers within a round
 * trip.
 */
export const FIRST_BYTE_TIMEOUT_MS = 3_000;

/** The limit for building the file: a million rows take 15 s, and other databases may be first. */
export const BUILD_TIMEOUT_MS = 60_000;

/** The limit for the next bytes. It is below the ten seconds after which other tabs give up on a silent opening tab. */
export const NEXT_BYTES_TIMEOUT_MS = 8_000;

/** The limit for unpacking and storing the next MiB, on a slow device. */
export const STORE_TIMEOUT_MS = 30_000;

/** The wait before the first event of the download. */
export const FIRST_SNAPSHOT_WAIT: SnapshotWait = { stage: 'token', withinMs: SNAPSHOT_TOKEN_TTL_MS };
