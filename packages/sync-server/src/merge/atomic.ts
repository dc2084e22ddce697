import { EXISTENCE_COLUMN_ID, RockpoolError, type Version } from '@rockpool/shared';
import type { MergedRow } from './merge-changeset.ts';

/**
 * An atomic changeset stands as it was sent or not at all. Throws `atomic-conflict` when any write of it lost to a
 * concurrent one. What others lose to it is no reason.
 */
export function requireWhole(rows: readonly MergedRow[], version: Version): void {
  const lost = rows.find((row) => hasLost(row, version));
  if (lost !== undefined) throw new RockpoolError('atomic-conflict', { table: lost.write.table.schema.name });
}

function hasLost({ write, after, conflicts, corrected }: MergedRow, version: Version): boolean {
  if (conflicts.some(({ lost }) => lost.version === version)) return true;
  // A correction without a loss: a delete of a row that is another one by now, say. It is none where a counter's sum or
  // a merged document is told, where the write brought the row back and its author is told all of it, and where a row
  // that was to go is gone.
  const {
    rules: { counters },
    documents,
  } = write.table;
  const otherwise = corrected.some(
    (columnId) => columnId === EXISTENCE_COLUMN_ID || !(counters.has(columnId) || documents.has(columnId)),
  );
  const hasRevived = after?.row.revived === version && after.row.deleted === null;
  const isGoneAsAsked = write.kind === 'delete' && after?.row.deleted !== null;
  return otherwise && !hasRevived && !isGoneAsAsked;
}
