import type { EncodedRows } from './rows-transfer.ts';
import type { SqlParam, SqlRow } from './sql-value.ts';

/** One SQL statement with the values of its parameters, in order. */
export interface SqlStatement {
  readonly sql: string;
  readonly params: readonly SqlParam[];
}

/** What one statement of a write did. */
export interface StatementResult<Row extends object = SqlRow> {
  /**
   * Rows inserted, updated or deleted by the statement itself, without those that triggers and foreign keys changed.
   */
  readonly changes: number;
  /** What `RETURNING` gave; empty without it. */
  readonly rows: readonly Row[];
}

/** The same as it crosses threads and tabs. */
export interface StatementOutcome {
  readonly changes: number;
  /** Absent for a statement that gives no rows. */
  readonly rows?: EncodedRows;
}
