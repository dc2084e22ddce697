import type { BackupPlace } from './open-destination.ts';

/** How databases are copied while they change. Plain data, so that it can be sent to another thread. */
export interface BackupRules extends BackupPlace {
  /** Time from a commit to its copy; commits in between share it. Default 1 s. */
  readonly intervalMs?: number | undefined;
  /** How long earlier states can be restored. Default 7 days. */
  readonly keepMs?: number | undefined;
  /**
   * A database that was not opened for this time is unloaded: its file is kept only at the destination, and is fetched
   * when the database is opened. Default: never.
   */
  readonly unloadAfterMs?: number | undefined;
}

/** The backup rules and the random id of this run of the server (owner.ts). */
export interface BackupRun extends BackupRules {
  readonly run: string;
}

export const BACKUP_INTERVAL_MS = 1_000;
export const BACKUP_KEEP_MS: number = 7 * 86_400_000;
