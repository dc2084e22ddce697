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
  status: 'State',
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
  parts: ['categoryId', 'amountMinor', 'notes'],
  accounts: ['name', 'closed'],
  categories: ['name', 'hidden'],
};

export interface Restore {
  readonly sql: string;
  readonly params: readonly (string | number | bigint | null)[];
}

/** The statement that writes the lost value again, as a change of its own; undefined where that makes no sense (the row has gone, say, or has that value). */
export function restoreStatement(conflict: ConflictRow): Restore | undefined {
  const { tableName, columnName, lostValue, currentValue, rowName } = conflict;
  if (columnName === null || rowName === null || lostValue instanceof Uint8Array || lostValue === currentValue) return undefined;
  if (restorableColumns[tableName]?.includes(columnName) !== true) return undefined;
  const id = firstKeyPart(conflict.rowKey);
  if (id !== undefined && conflict.transferId !== null && tableName === 'entries' && columnName !== 'categoryId') return restoreOfTransfer(conflict, id, columnName, lostValue);
  return id === undefined ? undefined : { sql: `UPDATE ${tableName} SET ${columnName} = ? WHERE id = ?`, params: [lostValue, id] };
}

/** On both sides, as for any change of a transfer. Not for an amount where the currencies differ: what the other side was is in an entry of its own. */
function restoreOfTransfer({ transferId, currentValue, otherMinor }: ConflictRow, id: string, columnName: string, lostValue: Exclude<ConflictValue, Uint8Array>): Restore | undefined {
  if (columnName !== 'amountMinor') return { sql: `UPDATE entries SET ${columnName} = ? WHERE transferId = ?`, params: [lostValue, transferId] };
  if (typeof currentValue !== 'number' || otherMinor !== -currentValue) return undefined;
  return { sql: 'UPDATE entries SET amountMinor = CASE id WHEN ? THEN ? ELSE -? END WHERE transferId = ?', params: [id, lostValue, lostValue, transferId] };
}

function firstKeyPart(rowKey: string): string | undefined {
  const parts: unknown = JSON.parse(rowKey);
  return Array.isArray(parts) && typeof parts[0] === 'string' ? parts[0] : undefined;
}
