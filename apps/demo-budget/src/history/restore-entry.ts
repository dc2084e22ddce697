import type { SqlParam, SqlRow, SqlStatement } from '@rockpool/client';
import type { PartRow } from '../queries/ledger.ts';
import { partChanges } from '../splits/part-changes.ts';
import { columnWords, valueWord, type Wording } from '../words/row-words.ts';
import type { EntryState } from './entry-state.ts';

/** The restorable values of an entry. The category includes the parts of a split. */
export type RestoredField = 'date' | 'payee' | 'notes' | 'categoryId' | 'amountMinor' | 'status';

export interface RestoreChoice {
  readonly field: RestoredField;
  /** The name that the app shows. */
  readonly label: string;
  readonly older: string;
  readonly now: string;
}

const fields: readonly RestoredField[] = ['amountMinor', 'payee', 'categoryId', 'date', 'notes', 'status'];

export interface RestoreLimits {
  /** Whether the entry, or the other side of its transfer, is reconciled, so that its day and amount cannot change. */
  readonly isLocked: boolean;
  /** Whether it is a transfer between currencies, so that this side does not determine the other side's amount. */
  readonly isBetweenCurrencies: boolean;
}

/** The fields in which an entry differs from an older state and that may be restored. */
export function restoreChoices(
  then: EntryState,
  now: EntryState,
  { isLocked, isBetweenCurrencies }: RestoreLimits,
  currency: string,
  wording: Wording,
): RestoreChoice[] {
  const [old, current] = [then.entry, now.entry];
  if (old === null || current === null) return [];
  const isTransfer = current['transferId'] !== null;
  const isSameTransfer = current['transferId'] === old['transferId'];
  const mayRestore: Readonly<Record<RestoredField, boolean>> = {
    date: !isLocked && isSameTransfer,
    // Both sides of a transfer have the same memo and the opposite amount, and no payee.
    payee: !isTransfer,
    notes: isSameTransfer,
    amountMinor: !isLocked && isSameTransfer && !isBetweenCurrencies,
    categoryId: isSameTransfer,
    status: old['status'] !== 'reconciled' && current['status'] !== 'reconciled',
  };
  return fields.flatMap((field): RestoreChoice[] => {
    const [before, after] = [wordsOf(then, field), wordsOf(now, field)];
    return before === after || !mayRestore[field]
      ? []
      : [{ field, label: columnWords[field] ?? field, older: before, now: after }];
  });

  function wordsOf({ entry, parts }: EntryState, field: RestoredField): string {
    if (field !== 'categoryId' || parts.length === 0)
      return valueWord(field, entry?.[field] ?? null, currency, wording);
    return parts
      .map((part) =>
        ['categoryId', 'amountMinor', 'notes']
          .filter((column) => column !== 'notes' || part[column] !== '')
          .map((column) => valueWord(column, part[column] ?? null, currency, wording))
          .join(' '),
      )
      .join(', ');
  }
}

/** The statements that give the chosen fields their older values, on both sides of a transfer. */
export function restoreStatements(
  then: EntryState,
  now: EntryState,
  chosen: ReadonlySet<RestoredField>,
): SqlStatement[] {
  const [old, current] = [then.entry, now.entry];
  if (old === null || current === null) return [];
  const id = current['id'] as string;
  const transferId = current['transferId'] as string | null;
  const isShared = (field: RestoredField): boolean =>
    transferId !== null && ['date', 'notes', 'amountMinor'].includes(field);
  const own = fields.filter((field) => chosen.has(field) && !isShared(field));
  const statements: SqlStatement[] = [];
  if (own.length > 0)
    statements.push({
      sql: `UPDATE entries SET ${own.map((field) => `${field} = ?`).join(', ')} WHERE id = ?`,
      params: [...own.map((field) => old[field] as SqlParam), id],
    });
  for (const field of fields.filter((one) => chosen.has(one) && isShared(one)))
    statements.push(
      field === 'amountMinor'
        ? {
            sql: 'UPDATE entries SET amountMinor = CASE id WHEN ? THEN ? ELSE -? END WHERE transferId = ?',
            params: [id, old[field] as number, old[field] as number, transferId],
          }
        : { sql: `UPDATE entries SET ${field} = ? WHERE transferId = ?`, params: [old[field] as string, transferId] },
    );
  if (chosen.has('categoryId')) statements.push(...partStatements(id, now.parts, then.parts));
  return statements;
}

function partStatements(entryId: string, now: readonly SqlRow[], then: readonly SqlRow[]): SqlStatement[] {
  const existing = new Set(now.map((part) => part['id']));
  const kept = then.filter((part) => existing.has(part['id'] as string)) as unknown as readonly PartRow[];
  return [
    ...partChanges(entryId, now as unknown as readonly PartRow[], kept),
    ...then.filter((part) => !existing.has(part['id'] as string)).map((part) => insertOf('parts', part)),
  ];
}

/** The statements that bring deleted entries back, such as both sides of a transfer, with their parts. */
export function bringBackStatements(states: readonly EntryState[]): SqlStatement[] {
  const entries = states.flatMap(({ entry }) => (entry === null ? [] : [entry]));
  return [
    ...entries.map((entry) => insertOf('entries', entry)),
    ...states.flatMap(({ parts }) => parts.map((part) => insertOf('parts', part))),
    {
      sql: 'DELETE FROM deletedEntries WHERE id IN (SELECT value FROM json_each(?))',
      params: [JSON.stringify(entries.map((entry) => entry['id']))],
    },
  ];
}

function insertOf(table: 'entries' | 'parts', row: SqlRow): SqlStatement {
  const columns = Object.keys(row);
  return {
    sql: `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`,
    params: columns.map((column) => row[column] as SqlParam),
  };
}
