import { RockpoolError, type Schema } from '@rockpool/shared';
import type { Connection } from '../sqlite/connection.ts';
import { SEARCH_PREFIX } from '../sqlite/sql-policy.ts';
import type { Statement } from '../sqlite/statement.ts';
import {
  catchUpSql,
  checkSearchIndexSql,
  createLogSql,
  createLogTriggersSql,
  dropLogSql,
  rebuildSearchIndexSql,
  type SearchIndexLog,
} from './search-index-sql.ts';

/**
 * Keeps the full-text indexes of one writer in step with their tables, in the same transactions:
 *
 *   rows change ── temporary triggers ──► log: which rows, and what the index has of them ── catchUp ──► index
 *
 * 1. Temporary triggers also run while the app's are off: for deliveries, rebases, undo and repairs.
 * 2. The index is updated once per transaction, before COMMIT, or earlier if a statement is about to read the index.
 *    FTS5 writes its buffered changes whenever a statement begins. Updating the index after each row would take 200 µs
 *    a row; updating it for all rows together takes 5 µs a row.
 * 3. The log is a temporary table, so a rollback undoes it too.
 */
export class SearchIndexes {
  private readonly connection: Connection;
  private readonly logs: readonly SearchIndexLog[];
  private readonly names: ReadonlySet<string>;
  private readonly isBehindSql: string;

  /** For a connection that only reads, pass a schema without tables. */
  constructor(connection: Connection, { tables }: Pick<Schema, 'tables'>) {
    this.connection = connection;
    this.logs = tables
      .flatMap((table) => (table.searchIndexes ?? []).map((index) => ({ table, index })))
      .map((parts, number) => ({ ...parts, name: `${SEARCH_PREFIX}${number}` }));
    this.names = new Set(this.logs.map(({ index }) => index.name));
    this.isBehindSql = `SELECT ${this.logs.map(({ name }) => `EXISTS (SELECT 1 FROM temp.${name})`).join(' OR ')}`;
    this.startLogging();
  }

  get count(): number {
    return this.logs.length;
  }

  /** Brings the indexes up to date with the transaction's writes. Call it before COMMIT. */
  catchUp(): void {
    if (this.logs.length === 0 || this.connection.value(this.isBehindSql) === 0) return;
    for (const log of this.logs) for (const sql of catchUpSql(log)) this.connection.run(sql);
  }

  /** Calls `catchUp` if the statement reads one of the indexes. */
  catchUpFor(statement: Statement): void {
    if (this.logs.length > 0 && [...statement.columnsRead.keys()].some((name) => this.names.has(name))) this.catchUp();
  }

  /**
   * Runs a `body` that rewrites most rows, inside a transaction. Rebuilding the indexes afterwards takes half as long
   * as updating them.
   */
  rebuildAfter<T>(body: () => T): T {
    if (this.logs.length === 0) return body();
    for (const log of this.logs) this.connection.exec(dropLogSql(log));
    const result = body();
    for (const { index } of this.logs) this.connection.run(rebuildSearchIndexSql(index));
    this.startLogging();
    return result;
  }

  /** Rebuilds indexes that differ from their tables, and returns them. Checking takes 2 µs a row. */
  repair(): { readonly table: string; readonly index: string }[] {
    const damaged = this.logs.filter(({ index }) => !this.isIntact(checkSearchIndexSql(index)));
    for (const { index } of damaged) this.connection.run(rebuildSearchIndexSql(index));
    return damaged.map(({ table, index }) => ({ table: table.name, index: index.name }));
  }

  private isIntact(checkSql: string): boolean {
    try {
      this.connection.run(checkSql);
      return true;
    } catch (thrown) {
      if (thrown instanceof RockpoolError && thrown.code === 'search-index-damaged') return false;
      throw thrown;
    }
  }

  private startLogging(): void {
    for (const log of this.logs)
      for (const sql of [createLogSql(log), ...createLogTriggersSql(log)]) this.connection.exec(sql);
  }
}
