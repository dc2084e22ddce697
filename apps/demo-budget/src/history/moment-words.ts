import type { ColumnChange, RowVersion, SqlValue } from '@rockpool/client';
import { formatMonthInFull } from '../shell/locale.ts';
import { columnWords, valueWord, type Wording } from '../words/row-words.ts';
import type { HistoryRow, Moment, RowChange } from './moments.ts';

/** A field that changed, with its old and its new value: `Amount`, `€12.00`, `€15.00`. */
export interface ChangeLine {
  readonly label: string;
  /** Null if there was none. */
  readonly before: string | null;
  /** Null if there is no value any more. */
  readonly after: string | null;
}

/** Columns that a person does not see in the app. */
const unseen: ReadonlySet<string> = new Set([
  'entryId',
  'enteredAtMs',
  'assignedAtMs',
  'importKey',
  'position',
  'deleted',
  'currency',
  'categoryId of goals',
]);

/** `Added`, `Changed` or `Deleted`: how the moment changed its first row. */
export function momentTitle({ changes }: Moment, main: HistoryRow): string {
  const own = changes.find(({ row }) => row.table === main.table && row.key === main.key);
  if (own === undefined) return 'Changed';
  return own.version.kind === 'insert' ? 'Added' : own.version.kind === 'delete' ? 'Deleted' : 'Changed';
}

/** The changes of a moment in words, in the order of the rows. `currency` is that of the amounts. */
export function momentLines({ changes }: Moment, currency: string, wording: Wording): ChangeLine[] {
  return changes.flatMap((change) => linesOf(change, currency, wording));
}

function linesOf({ row, version }: RowChange, currency: string, wording: Wording): ChangeLine[] {
  if (row.table === 'parts' && version.kind !== 'update') return [partLine(row, version, currency, wording)];
  if (row.table === 'assignments') return assignmentLines(version, currency, wording);
  const prefix = row.table === 'parts' ? `${partName(row)} ` : row.table === 'goals' ? 'Goal ' : '';
  return version.changes.flatMap((change): ChangeLine[] => {
    const { column } = change;
    if (unseen.has(column) || unseen.has(`${column} of ${row.table}`)) return [];
    const [before, after] = [change.before, change.after].map((value) => wordOf(column, value, currency, wording)) as [
      string,
      string,
    ];
    const word = columnWords[column] ?? column;
    const label = prefix === '' ? word : prefix + word.toLowerCase();
    if (version.kind === 'update') return [{ label, before, after }];
    // For a whole row, only the columns that carry information.
    const value = version.kind === 'insert' ? change.after : change.before;
    if (isPlain(column, value)) return [];
    return [version.kind === 'insert' ? { label, before: null, after } : { label, before, after: null }];
  });
}

function wordOf(column: string, value: SqlValue, currency: string, wording: Wording): string {
  if (column === 'transferId') return value === null ? 'no' : 'yes';
  if (column === 'byMonth') return value === null ? 'no month' : formatMonthInFull(String(value));
  return valueWord(column, value, currency, wording);
}

/** Whether a new row has this value unless the user chose another. */
function isPlain(column: string, value: SqlValue): boolean {
  return value === null || value === '' || value === 0 || (column === 'status' && value === 'open');
}

function partName({ key }: HistoryRow): string {
  return `Part ${key.slice(key.lastIndexOf('/') + 1)}`;
}

function partLine(row: HistoryRow, version: RowVersion, currency: string, wording: Wording): ChangeLine {
  const isNew = version.kind === 'insert';
  const valueOf = (column: string): SqlValue => valueIn(version.changes, column, isNew);
  const words = ['categoryId', 'amountMinor', 'notes']
    .filter((column) => column === 'categoryId' || !isPlain(column, valueOf(column)))
    .map((column) => wordOf(column, valueOf(column), currency, wording))
    .join(', ');
  return { label: partName(row), before: isNew ? null : words, after: isNew ? words : null };
}

function assignmentLines(version: RowVersion, currency: string, wording: Wording): ChangeLine[] {
  const isNew = version.kind !== 'delete';
  const month = valueIn(version.changes, 'month', isNew);
  const amount = valueIn(version.changes, 'amountMinor', isNew);
  const label = month === null ? 'Assigned' : `Assigned in ${formatMonthInFull(String(month))}`;
  const words = wordOf('amountMinor', amount, currency, wording);
  return [{ label, before: isNew ? null : words, after: isNew ? words : null }];
}

function valueIn(changes: readonly ColumnChange[], name: string, isNew: boolean): SqlValue {
  const change = changes.find(({ column }) => column === name);
  return (isNew ? change?.after : change?.before) ?? null;
}
