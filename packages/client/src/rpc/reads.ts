import type { ErrorData } from '@rockpool/shared';
import type { EncodedRows } from './rows-transfer.ts';
import type { RejectedChangeset } from './rejected-changeset.ts';
import type { QueryDependencies } from './query-dependencies.ts';
import type { RowSyncState } from './row-sync-state.ts';
import type { SqlStatement } from './sql-statement.ts';
import type { SqlValue } from './sql-value.ts';
import type { WriteState } from './write-state.ts';

/** What one of several queries came to. */
export type QueryResult = { readonly rows: EncodedRows; readonly tookMs: number } | { readonly error: ErrorData };

/**
 * What can be read, wherever the database is: in this worker, or in that of the leading tab. Every failure is a
 * RockpoolError.
 */
export interface Reads {
  /** Rows of one statement that reads: what had been committed when it was asked, at least. */
  query(statement: SqlStatement): Promise<EncodedRows>;
  /**
   * Several, in one read of the database: those that do not take long show one moment. Each has a result; that one
   * fails does not concern the others.
   */
  queryAll(statements: readonly SqlStatement[]): Promise<readonly QueryResult[]>;
  /** What a query reads: tables, views and virtual tables. */
  dependencies(statement: SqlStatement): Promise<QueryDependencies>;
  /** What was refused and waits for a decision, oldest first. */
  listRejected(): Promise<readonly RejectedChangeset[]>;
  /** Where the changes of one row are. `schema-unknown-table`, `key-invalid`. */
  rowSyncState(tableName: string, key: readonly SqlValue[]): Promise<RowSyncState>;
  /** What became of the writes that were asked for under these ids, in their order. */
  writeStates(requestIds: readonly string[]): Promise<readonly WriteState[]>;
  /** All that is committed, as one plain SQLite file. */
  backup(): Promise<Blob>;
}
