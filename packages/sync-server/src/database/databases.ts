import type { RockpoolError } from '@rockpool/shared';
import type { BackupState } from '../backup/backup-state.ts';
import type { HistoryRequest } from '../history/answer-history.ts';
import type { PastMoment } from '../history/past-moment.ts';
import type { PastState } from '../history/past-states.ts';
import type { Snapshot } from '../snapshot/snapshots.ts';
import type { ReadableRows } from '../store/read-filter.ts';
import type { SessionDatabase } from './live-database.ts';

/** The databases of a server, whichever thread owns them. */
export interface Databases {
  /**
   * Creates the database at its first use. Use the result in the same turn of the event loop. The caller has checked
   * the id. Throws `schema-incompatible`, `database-damaged` or `database-unavailable`, now or when a session joins.
   */
  open(databaseId: string): SessionDatabase | Promise<SessionDatabase>;
  /**
   * Returns the snapshot for a client whose schema has this hash. Null if none is offered. See Snapshots.get. Throws
   * `schema-mismatch` if the database has a different schema.
   */
  snapshot(databaseId: string, schemaHash: string, rows: ReadableRows): Promise<Snapshot | null>;
  /** Answers a question about the history of a row. Throws like answerHistory. */
  history(databaseId: string, request: HistoryRequest, rows: ReadableRows, nowMs: number): Promise<Uint8Array>;
  /** Builds a database as it was at a moment. The receiver deletes the file. See writePastState for errors. */
  pastState(databaseId: string, moment: PastMoment, rows: ReadableRows, nowMs: number): Promise<PastState>;
  /** Takes a damaged database offline: ends its sessions with the error, and refuses to open it from now on. */
  takeOffline(databaseId: string, error: RockpoolError): void;
  /**
   * Takes a database offline for an operation: decides all pushes, ends the sessions with the error, and closes the
   * file. Resolves once it is closed. Opening throws the error until `release`.
   */
  hold(databaseId: string, error: RockpoolError): Promise<void>;
  /** Allows the database to be opened again. */
  release(databaseId: string): void;
  readonly openCount: number;
  /** Databases that are offline because their files are damaged. */
  readonly damagedCount: number;
  /** Null if there is no continuous backup. */
  readonly backupState: BackupState | null;
  /** Decides all pushes and closes the files. The sessions have ended. */
  close(): Promise<void>;
}
