import { decodeRows } from './rows-transfer.ts';
import type { StatementOutcome, StatementResult } from './sql-statement.ts';

const NO_ROWS: readonly never[] = Object.freeze([]);

/** Converts an outcome from the worker into the app's result. Only the caller knows the row type. */
export function toStatementResult<Row extends object>({ changes, rows }: StatementOutcome): StatementResult<Row> {
  return { changes, rows: rows === undefined ? NO_ROWS : (decodeRows(rows) as Row[]) };
}
