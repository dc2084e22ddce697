import type { EncodedRows } from './rows-transfer.ts';
import type { SqlParam, SqlRow } from './sql-value.ts';

/** One SQL statement and the values of its parameters, in order. */
export interface SqlStatement {
  readonly sql: string;
  readonly params: readonly SqlParam[];
}

/** The result of one statement of a write. */
export interface StatementResult<Row extends object = SqlRow> {
  /**
   * The number of rows that the statement itself inserted, updated or deleted, not counting triggers and foreign keys.
   */
  readonly changes: number;
  /** The rows of `RETURNING`; empty if the statement has none. */
  readonly rows: readonly Row[];
}

/** The same result in the form in which it crosses threads and tabs. */
export interface StatementOutcome {
  readonly changes: number;
  /** Absent for a statement without rows. */
  readonly rows?: EncodedRows;
}
