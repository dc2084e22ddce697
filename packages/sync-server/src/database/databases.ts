import type { RockpoolError } from '@rockpool/shared';
import type { HistoryRequest } from '../history/answer-history.ts';
import type { Snapshot } from '../snapshot/snapshots.ts';
import type { ReadableRows } from '../store/read-filter.ts';
import type { SessionDatabase } from './session-database.ts';

/** The databases of a server, whichever thread owns them. */
export interface Databases {
  /**
   * Creates the database at its first use. Use the result in the same turn of the event loop. The caller has checked the
   * id. Throws `schema-incompatible`, `database-damaged` or `database-unavailable`, now or when a session joins.
   */
  open(databaseId: string): SessionDatabase | Promise<SessionDatabase>;
  /** Null: not offered. See Snapshots.get. */
  snapshot(databaseId: string, rows: ReadableRows): Promise<Snapshot | null>;
  /** Answers a question about the history of a row. Throws as answerHistory. */
  history(databaseId: string, request: HistoryRequest, rows: ReadableRows, nowMs: number): Promise<Uint8Array>;
  /** Takes a damaged database offline: ends its sessions with the error, and refuses to open it from now on. */
  takeOffline(databaseId: string, error: RockpoolError): void;
  readonly openCount: number;
  /** Databases that are offline because their files are damaged. */
  readonly damagedCount: number;
  /** Decides what was pushed and closes the files. The sessions have ended. */
  close(): Promise<void>;
}
