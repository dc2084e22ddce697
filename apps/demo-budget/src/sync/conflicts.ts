import { columnGroups, schema } from '../schema.ts';
import type { ConflictRow, ConflictValue } from '../queries/conflicts.ts';

/**
 * The values that one author lost in one decision of the server: one column, the columns of a group, or all columns of
 * a deleted row.
 */
export interface Conflict {
  /** The conflict log row that represents the group. */
  readonly first: ConflictRow;
  readonly losses: readonly ConflictRow[];
}

/** Groups rows of the conflict log, in their order. */
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

/** Whether the write lost because its row, or a row it belonged to, was deleted. */
export function wentWithRow({ rule }: ConflictRow): boolean {
  return rule === 'delete-wins' || rule === 'cascade';
}

/** The columns of this column's group; undefined if it has none. */
export function groupOf({ tableName, columnName }: ConflictRow): readonly string[] | undefined {
  const columns = Object.hasOwn(columnGroups, tableName) ? columnGroups[tableName as keyof typeof columnGroups] : [];
  const names = columns.map(({ name }) => name);
  return columnName !== null && names.includes(columnName) ? names : undefined;
}

/** The current row by column; empty if it was deleted. */
export function currentRowOf({ rowName, currentRow }: ConflictRow): Readonly<Record<string, ConflictValue>> {
  return rowName === null || currentRow === null ? {} : (JSON.parse(currentRow) as Record<string, ConflictValue>);
}

/**
 * Whether a lost write can be restored and would change something: a value, if its row exists; a deleted row, if the
 * conflict log has every required column; a delete, if the row still exists.
 */
export function isRestorable(conflict: Conflict): boolean {
  const { first, losses } = conflict;
  if (wentWithRow(first)) return first.rowName === null && hasWholeRow(conflict);
  if (first.rowName === null) return false;
  if (first.columnName === null) return true;
  const current = currentRowOf(first);
  // An edit of a note that came too late to be merged. Its text is unknown.
  if (first.tableName === 'notes' && first.lostValue === null) return false;
  // Between currencies, the other side's amount is in a separate row of the conflict log.
  if (isOfBothSides(first) && first.columnName === 'amountMinor' && current['amountMinor'] !== -(first.otherMinor ?? 0))
    return false;
  return losses.some(
    ({ columnName, lostValue }) =>
      columnName !== null && Object.hasOwn(current, columnName) && lostValue !== current[columnName],
  );
}

/**
 * Whether the field is a day, amount or notes of a transfer: these are equal on both sides, and a restore writes both.
 */
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

/**
 * What has become of a conflict:
 * - `open`: the value that won is still the current one, and waits for a user
 * - `restored`: the lost value is the current one again, or the deleted row exists again
 * - `changed`: a later edit has replaced both values
 * - `dismissed`: a user has looked at it and left it
 */
export type ConflictState = 'open' | 'restored' | 'changed' | 'dismissed';

export function stateOf(conflict: Conflict): ConflictState {
  const { first, losses } = conflict;
  const isDismissed = losses.every(({ dismissed }) => dismissed === 1);
  const unlessDismissed = isDismissed ? 'dismissed' : 'open';
  if (wentWithRow(first)) return first.rowName === null ? unlessDismissed : 'restored';
  if (first.columnName === null) return first.rowName === null ? 'restored' : unlessDismissed;
  if (first.rowName === null) return isDismissed ? 'dismissed' : 'changed';
  if (currentIs('lostValue', conflict)) return 'restored';
  // A note cannot be compared: the conflict log has its text, and the row has a document.
  if (isDismissed || first.tableName === 'notes') return unlessDismissed;
  return currentIs('wonValue', conflict) ? 'open' : 'changed';
}

function currentIs(side: 'lostValue' | 'wonValue', { first, losses }: Conflict): boolean {
  const current = currentRowOf(first);
  // A column that the query does not return counts as unchanged.
  return losses.every(({ columnName, ...values }) =>
    columnName !== null && Object.hasOwn(current, columnName)
      ? current[columnName] === values[side]
      : side === 'wonValue',
  );
}
