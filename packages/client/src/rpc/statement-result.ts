import { decodeRows } from './rows-transfer.ts';
import type { StatementOutcome, StatementResult } from './sql-statement.ts';

const NO_ROWS: readonly never[] = Object.freeze([]);

/** What crossed between threads, as the app sees it. What type the rows have only the caller knows. */
export function toStatementResult<Row extends object>({ changes, rows }: StatementOutcome): StatementResult<Row> {
  return { changes, rows: rows === undefined ? NO_ROWS : (decodeRows(rows) as Row[]) };
}
