import { RockpoolError, toRockpoolError } from '@rockpool/shared';
import type { QueryResult } from '../../rpc/reads.ts';
import type { EncodedRows } from '../../rpc/rows-transfer.ts';
import type { SqlStatement } from '../../rpc/sql-statement.ts';
import type { Connection } from '../sqlite/connection.ts';
import { RowsEncoder } from '../sqlite/encode-rows.ts';
import type { Statement } from '../sqlite/statement.ts';
import { READ_POLICY } from '../sqlite/sql-policy.ts';

/** Runs a whole query and returns its rows or its error; null when it takes longer than `budgetMs`. */
export function queryWithin(connection: Connection, statement: SqlStatement, budgetMs: number): QueryResult | null {
  const startedMs = performance.now();
  try {
    const run = new QueryRun(connection, statement);
    try {
      const rows = run.advance(budgetMs);
      return rows === null ? null : { rows, tookMs: performance.now() - startedMs };
    } finally {
      run.end();
    }
  } catch (thrown) {
    return { error: toRockpoolError(thrown).toData() };
  }
}

/** Reading the clock costs about as much as a small row. */
const ROWS_PER_CLOCK_CHECK = 64;

/**
 * A query that can be paused between two rows. It holds its snapshot until it ends. An error ends it; the errors are
 * those of `LocalDatabase.query`.
 */
export class QueryRun {
  private readonly connection: Connection;
  private readonly statement: Statement;
  private readonly encoder: RowsEncoder;
  private hasEnded = false;

  constructor(connection: Connection, { sql, params }: SqlStatement) {
    this.connection = connection;
    this.statement = connection.prepare(sql, READ_POLICY);
    this.encoder = new RowsEncoder(this.statement);
    try {
      if (!this.statement.readOnly) throw new RockpoolError('sql-read-only');
      this.statement.bindParams(params);
    } catch (thrown) {
      this.end();
      throw thrown;
    }
  }

  /**
   * Continues for about `budgetMs`. Returns the rows when the query is complete, and null when it needs more time. The
   * work before the first row, such as sorting and aggregating, cannot be paused and does not count: when the budget is
   * used up, most of such a query is done, and giving up would repeat all of it.
   */
  advance(budgetMs: number): EncodedRows | null {
    try {
      const isDone = this.connection.underPolicy(READ_POLICY, () => {
        if (!this.encoder.take(ROWS_PER_CLOCK_CHECK)) return true;
        const endMs = performance.now() + budgetMs;
        while (this.encoder.take(ROWS_PER_CLOCK_CHECK)) if (performance.now() >= endMs) return false;
        return true;
      });
      if (!isDone) return null;
    } catch (thrown) {
      this.end();
      throw thrown;
    }
    this.end();
    return this.encoder.finish();
  }

  /** Ends the query early, unless it has ended. Call it before the database is closed. */
  end(): void {
    if (this.hasEnded) return;
    this.hasEnded = true;
    this.statement.release();
  }
}
