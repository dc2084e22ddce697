import { EXISTENCE_COLUMN_ID, RockpoolError, type Version } from '@rockpool/shared';
import type { MergedRow } from './merged-row.ts';

/**
 * Throws `atomic-conflict` if any write of an atomic changeset lost to a concurrent one. Concurrent writes that lost to
 * it do not matter.
 */
export function requireWhole(rows: readonly MergedRow[], version: Version): void {
  const lost = rows.find((row) => hasLost(row, version));
  if (lost !== undefined) throw new RockpoolError('atomic-conflict', { table: lost.write.table.schema.name });
}

function hasLost({ write, after, conflicts, corrected }: MergedRow, version: Version): boolean {
  if (conflicts.some(({ lost }) => lost.version === version)) return true;
  // Includes corrections without a conflict, such as that of a delete of a row that was inserted again. Excludes merged
  // values of columns that accumulate writes, rows that the write revived (their author receives them as a whole), and
  // deletes of rows that do not exist.
  const { byColumn } = write.table.rules.policies;
  const otherwise = corrected.some(
    (columnId) => columnId === EXISTENCE_COLUMN_ID || byColumn.get(columnId)?.accumulates !== true,
  );
  const hasRevived = after?.row.revived === version && after.row.deleted === null;
  const isGoneAsAsked = write.kind === 'delete' && after?.row.deleted !== null;
  return otherwise && !hasRevived && !isGoneAsAsked;
}
