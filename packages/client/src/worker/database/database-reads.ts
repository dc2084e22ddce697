import { RockpoolError, syncedTables, type Schema, type TableSchema } from '@rockpool/shared';
import type { EncodedRows } from '../../rpc/rows-transfer.ts';
import type { RejectedChangeset, WaitingChangeset } from '../../rpc/rejected-changeset.ts';
import type { QueryDependencies } from '../../rpc/query-dependencies.ts';
import type { QueryResult } from '../../rpc/reads.ts';
import type { SqlStatement } from '../../rpc/sql-statement.ts';
import type { RowSyncState } from '../../rpc/row-sync-state.ts';
import type { SqlParam, SqlValue } from '../../rpc/sql-value.ts';
import type { WriteState } from '../../rpc/write-state.ts';
import type { Changelog } from '../changelog/changelog.ts';
import { changelogCode } from '../changelog/load-changelog-code.ts';
import type { Outbox } from '../changelog/outbox.ts';
import type { RejectedTable } from '../changelog/rejected-table.ts';
import type { Meta } from '../file/meta.ts';
import { writeStates } from '../changelog/write-states.ts';
import { createDependencyReader } from '../invalidate/query-dependencies.ts';
import type { Connection } from '../sqlite/connection.ts';
import { QueryRun, queryWithin } from './query-run.ts';
import { openCursor, type RowCursor } from './row-cursor.ts';

/** The reads of an open database, on a writer and on a reader. */
export interface DatabaseReads {
  /** See `LocalDatabase.query`. */
  query(sql: string, params: readonly SqlParam[]): EncodedRows;
  /** See `LocalDatabase.dependencies`. */
  dependencies(statement: SqlStatement): QueryDependencies;
  /**
   * Returns the rows of a query in parts, all from one state of the database. Nothing else can be read on this
   * connection meanwhile.
   */
  openCursor(statement: SqlStatement): RowCursor;
  /**
   * Runs several queries on one state of the database. The result is null for a query that takes longer than
   * `eachWithinMs`.
   */
  queryAll(statements: readonly SqlStatement[], eachWithinMs: number): (QueryResult | null)[];
  /** Like `query`, in parts. End the run before `close`. */
  startQuery(statement: SqlStatement): QueryRun;
  countRejected(): number;
  listRejected(): RejectedChangeset[];
  listWaiting(limit: number): WaitingChangeset[];
  /** Throws `schema-unknown-table`, and `key-invalid` for a key with the wrong number of parts. */
  rowSyncState(tableName: string, key: readonly SqlValue[]): RowSyncState;
  writeStates(requestIds: readonly string[]): WriteState[];
}

export interface ReadParts {
  readonly connection: Connection;
  readonly schema: Schema;
  readonly tablesById: ReadonlyMap<number, TableSchema>;
  readonly changelog: Changelog;
  readonly outbox: Outbox;
  readonly rejected: RejectedTable;
  readonly meta: Meta;
  /** Throws ReadInterrupted once the database is closed. */
  requireOpen(): void;
}

export function createReads(parts: ReadParts): DatabaseReads {
  const { connection, schema, tablesById, requireOpen } = parts;
  const readDependencies = createDependencyReader(connection, schema);

  /** Reads one state of the database, even while another tab writes. */
  function atOneMoment<T>(read: () => T): T {
    requireOpen();
    connection.run('BEGIN');
    try {
      return read();
    } finally {
      if (connection.inTransaction) connection.run('COMMIT');
    }
  }

  return {
    query(sql, params) {
      requireOpen();
      return new QueryRun(connection, { sql, params }).advance(Number.POSITIVE_INFINITY) as EncodedRows;
    },
    queryAll: (statements, eachWithinMs) =>
      atOneMoment(() => statements.map((statement) => queryWithin(connection, statement, eachWithinMs))),
    startQuery(statement) {
      requireOpen();
      return new QueryRun(connection, statement);
    },
    openCursor(statement) {
      requireOpen();
      return openCursor(connection, statement);
    },
    dependencies(statement) {
      requireOpen();
      return readDependencies(statement);
    },
    countRejected: () => atOneMoment(() => parts.rejected.count()),
    listRejected: () => atOneMoment(() => changelogCode().listRejected(parts, tablesById)),
    listWaiting: (limit) => atOneMoment(() => changelogCode().listWaiting(parts, tablesById, limit)),
    rowSyncState(tableName, key) {
      const table = syncedTables(schema).find(({ name }) => name === tableName);
      if (table === undefined) throw new RockpoolError('schema-unknown-table', { table: tableName });
      return atOneMoment(() => changelogCode().rowSyncState(parts, table, key));
    },
    writeStates: (requestIds) => atOneMoment(() => writeStates(connection, requestIds)),
  };
}
