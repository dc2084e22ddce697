import type { Table } from './file/table.ts';
import type { ColumnChoice } from './rows/columns.ts';

/** The statement of one account. A file may hold several. */
export interface Statement {
  /** The last characters of the bank's account number; empty if the file has none. */
  readonly accountNumber: string;
  /** Entries that the bank has not booked yet; they are not in the table. */
  readonly pendingCount: number;
  /** One row per entry. `rowNumber` counts entries from 1. */
  readonly table: Table;
}

export const statementHeader: readonly string[] = [
  'Date',
  'Amount',
  'Payee',
  'Memo',
  'Currency',
  'Reference',
  'Category',
];

/** The columns of a statement's table: always the same, for all formats that describe themselves. */
export const statementColumns: ColumnChoice = {
  date: 0,
  amount: 1,
  debit: null,
  credit: null,
  payee: 2,
  notes: 3,
  currency: 4,
  bankId: 5,
  direction: null,
  category: 6,
};

/** The memo, with the number of the check that it belongs to. */
export function withCheckNumber(memo: string, checkNumber: string): string {
  const number = checkNumber.replace(/^0+(?=\d)/, '');
  if (number === '' || memo.includes(number)) return memo;
  return memo === '' ? `Check ${number}` : `Check ${number} · ${memo}`;
}
