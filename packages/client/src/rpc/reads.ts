import type { ErrorData } from '@rockpool/shared';
import type { EncodedRows } from './rows-transfer.ts';
import type { RejectedChangeset, WaitingChangeset } from './rejected-changeset.ts';
import type { QueryDependencies } from './query-dependencies.ts';
import type { RowSyncState } from './row-sync-state.ts';
import type { SqlStatement } from './sql-statement.ts';
import type { SqlValue } from './sql-value.ts';
import type { WriteState } from './write-state.ts';

/** The result of one query. */
export type QueryResult = { readonly rows: EncodedRows; readonly tookMs: number } | { readonly error: ErrorData };

/** Reads of the database, by this worker or through the leader's worker. Every failure is a RockpoolError. */
export interface Reads {
  /** Runs one read-only statement. Sees at least every commit that preceded the call. */
  query(statement: SqlStatement): Promise<EncodedRows>;
  /**
   * Runs several queries in one read of the database. Short queries see the same snapshot. Each has its own result or
   * error.
   */
  queryAll(statements: readonly SqlStatement[]): Promise<readonly QueryResult[]>;
  /** The tables, views and virtual tables that a query reads. */
  dependencies(statement: SqlStatement): Promise<QueryDependencies>;
  /** The rejected changesets, oldest first. */
  listRejected(): Promise<RejectedChangeset[]>;
  /** The first `limit` changesets of the outbox that are not withdrawn, oldest first. */
  listWaiting(limit: number): Promise<WaitingChangeset[]>;
  /** How far the changes to one row have come. Rejects with `schema-unknown-table` and `key-invalid`. */
  rowSyncState(tableName: string, key: readonly SqlValue[]): Promise<RowSyncState>;
  /** The states of the writes requested under these ids, in their order. */
  writeStates(requestIds: readonly string[]): Promise<readonly WriteState[]>;
  /** All committed data as one plain SQLite file. */
  backup(): Promise<Blob>;
}
