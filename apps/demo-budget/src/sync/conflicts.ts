import { formatMinor } from '../money/format.ts';
import type { ConflictRow, ConflictValue } from '../queries.ts';

const columnWords: Readonly<Record<string, string>> = {
  name: 'Name',
  kind: 'Kind',
  currency: 'Currency',
  openingMinor: 'Opening balance',
  closed: 'Closed',
  hidden: 'Hidden',
  accountId: 'Account',
  date: 'Date',
  payee: 'Payee',
  notes: 'Notes',
  categoryId: 'Category',
  amountMinor: 'Amount',
};

/** What a column is called in the app. */
export function columnWord(columnName: string | null): string {
  return columnName === null ? 'Everything' : (columnWords[columnName] ?? columnName);
}

/** A value of the conflict ledger as the app would show it. */
export function valueWord(value: ConflictValue, conflict: ConflictRow, categoryNames: ReadonlyMap<string, string>, locale: string): string {
  if (value === null || value === '') return conflict.columnName === 'categoryId' ? 'no category' : 'nothing';
  if (value instanceof Uint8Array) return `${value.length} bytes`;
  const isMoney = conflict.columnName === 'amountMinor' || conflict.columnName === 'openingMinor';
  if (isMoney && typeof value !== 'string' && conflict.currency !== null) return formatMinor(value, conflict.currency, locale);
  if (conflict.columnName === 'categoryId') return categoryNames.get(String(value)) ?? 'a category';
  return String(value);
}

/** The columns that a person can put back. Anything else of the ledger is never made into SQL. */
const restorableColumns: Readonly<Record<string, readonly string[]>> = {
  entries: ['date', 'payee', 'notes', 'categoryId', 'amountMinor'],
  accounts: ['name', 'closed'],
  categories: ['name', 'hidden'],
};

/** The statement that writes the lost value again, as a change of its own; undefined where that makes no sense (the row has gone, say, or has that value). */
export function restoreStatement(conflict: ConflictRow): { readonly sql: string; readonly params: readonly (string | number | bigint | null)[] } | undefined {
  const { tableName, columnName, lostValue, currentValue, rowName } = conflict;
  if (columnName === null || rowName === null || lostValue instanceof Uint8Array || lostValue === currentValue) return undefined;
  if (restorableColumns[tableName]?.includes(columnName) !== true) return undefined;
  const id = firstKeyPart(conflict.rowKey);
  return id === undefined ? undefined : { sql: `UPDATE ${tableName} SET ${columnName} = ? WHERE id = ?`, params: [lostValue, id] };
}

function firstKeyPart(rowKey: string): string | undefined {
  const parts: unknown = JSON.parse(rowKey);
  return Array.isArray(parts) && typeof parts[0] === 'string' ? parts[0] : undefined;
}
