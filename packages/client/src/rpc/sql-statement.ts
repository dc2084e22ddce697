import type { SqlParam } from './sql-value.ts';

/** One SQL statement with the values of its parameters, in order. */
export interface SqlStatement {
  readonly sql: string;
  readonly params: readonly SqlParam[];
}

/** What one statement of a write did. */
export interface StatementResult {
  /** Rows inserted, updated or deleted by the statement itself, without those that triggers and foreign keys changed. */
  readonly changes: number;
}
