import { columnGroups, schema } from '../schema.ts';
import type { ConflictRow, ConflictValue } from '../queries/conflicts.ts';

/**
 * What one person wrote and lost in one decision of the server: one column, the columns of a group, or all that went
 * with a deleted row.
 */
export interface Conflict {
  /** The entry of the ledger that stands for all. */
  readonly first: ConflictRow;
  readonly losses: readonly ConflictRow[];
}

/** The ledger's entries, put together; in the order in which they come. */
export function conflictsOf(rows: readonly ConflictRow[]): Conflict[] {
  const together = Map.groupBy(rows, (row) =>
    JSON.stringify([
      row.watermark,
      row.tableName,
      row.rowKey,
      row.rule,
      wentWithRow(row) || (groupOf(row) ?? row.columnName),
    ]),
  );
  return [...together.values()].map((losses) => ({ first: losses[0] as ConflictRow, losses }));
}

/** It was written to a row that somebody deleted, or that was deleted together with what it belonged to. */
export function wentWithRow({ rule }: ConflictRow): boolean {
  return rule === 'delete-wins' || rule === 'cascade';
}

/** The columns that stand and fall with this one; undefined where it stands alone. */
export function groupOf({ tableName, columnName }: ConflictRow): readonly string[] | undefined {
  const columns = Object.hasOwn(columnGroups, tableName) ? columnGroups[tableName as keyof typeof columnGroups] : [];
  const names = columns.map(({ name }) => name);
  return columnName !== null && names.includes(columnName) ? names : undefined;
}

/** The row as it is now, by column; empty where it has gone. */
export function currentRowOf({ rowName, currentRow }: ConflictRow): Readonly<Record<string, ConflictValue>> {
  return rowName === null || currentRow === null ? {} : (JSON.parse(currentRow) as Record<string, ConflictValue>);
}

/**
 * Whether what lost can be written again, and would change anything: a value, where its row is still there; a row that
 * has gone, where the ledger has all of it that the table needs; a delete, where the row is still there.
 */
export function isRestorable(conflict: Conflict): boolean {
  const { first, losses } = conflict;
  if (wentWithRow(first)) return first.rowName === null && hasWholeRow(conflict);
  if (first.rowName === null) return false;
  if (first.columnName === null) return true;
  const current = currentRowOf(first);
  // An edit of a note that came too late to be merged: what it said is not known any more.
  if (first.tableName === 'notes' && first.lostValue === null) return false;
  // What the other side of a transfer was in another currency is in an entry of its own.
  if (isOfBothSides(first) && first.columnName === 'amountMinor' && current['amountMinor'] !== -(first.otherMinor ?? 0))
    return false;
  return losses.some(
    ({ columnName, lostValue }) =>
      columnName !== null && Object.hasOwn(current, columnName) && lostValue !== current[columnName],
  );
}

/** A day, an amount or notes of a transfer: they stand on both sides, and are written to both. */
export function isOfBothSides({ tableName, transferId, columnName }: ConflictRow): boolean {
  return tableName === 'entries' && transferId !== null && ['date', 'notes', 'amountMinor'].includes(columnName ?? '');
}

function hasWholeRow({ first, losses }: Conflict): boolean {
  const table = schema.tables.find(({ name }) => name === first.tableName);
  const known = new Set([...(table?.primaryKey ?? []), ...losses.map(({ columnName }) => columnName)]);
  return (
    table?.columns.every(({ name, notNull, defaultSql }) => !notNull || defaultSql !== null || known.has(name)) ?? false
  );
}
