import {
  cellValuesEqual,
  EXISTENCE_COLUMN_ID,
  hasSeen,
  RockpoolError,
  type Version,
  type WriteVersion,
} from '@rockpool/shared';
import { SERVER_SITE } from '../sqlite/internal-tables.ts';
import type { StoredTable } from '../sqlite/stored-table.ts';
import type { DatabaseFile } from '../store/database-file.ts';
import { keysWithReference, type Nulled } from '../store/nulled-references.ts';
import type { KnownRow } from '../store/row-store.ts';
import { orphans, unnamedWrite } from './cascade.ts';
import { referencedValues, referringValues, type ForeignKeyCheck, type ForeignKeyChecks } from './foreign-keys.ts';
import { isThere, type MergedRow } from './merged-row.ts';
import type { MergedRows } from './merged-rows.ts';
import { baseOf } from './row-write.ts';
import { UnseenDeletes } from './unseen-delete.ts';
import { updateCells } from './write-rows.ts';

/**
 * Applies `set-null` between concurrent writes of parents and children. A reference is NULL while its parent is
 * deleted. The row keeps the reference (store/nulled-references.ts): later writes merge with it, and it returns with
 * the parent. Both orders of arrival therefore produce the same rows.
 *
 *   child, then the parent's delete    the delete nulls the reference
 *   the parent's delete, then child    admits the child with a NULL
 *
 * The NULLs have the server's site and this watermark, so that every site receives them, including the author's. The
 * references are conflicts. A reference that this changeset writes to a parent that its author had seen deleted, or
 * that never existed, is not changed: it breaks the foreign key.
 *
 * Call it last: which rows exist is decided before. `reasons` are the deletes that caused cascades.
 */
export function nullReferences(
  file: DatabaseFile,
  checks: ForeignKeyChecks,
  rows: MergedRows,
  version: WriteVersion,
  base: number,
  reasons: ReadonlyMap<string, Version>,
): void {
  const unseenDeletes = new UnseenDeletes(file, checks);
  for (const { write } of rows.all()) {
    const row = rows.of(write);
    if (row.before === row.after || !isThere(row.after)) continue;
    for (const check of setNull(checks.byChild.get(write.table))) {
      const reason = missingParentOf(file, check, row, version, base, unseenDeletes);
      if (reason !== null) rows.set(withNull(file, check, rows.of(write), version, reason));
    }
  }
  for (const row of rows.all()) {
    const { name, table } = row.write;
    if (!isThere(row.before) || isThere(row.after)) continue;
    for (const check of setNull(checks.byParent.get(table)))
      for (const { write } of orphans(file, check, row, rows.room)) {
        const child = rows.of(write);
        if (isThere(child.after)) rows.set(withNull(file, check, child, version, reasons.get(name) ?? version));
      }
  }
  for (const row of rows.all()) {
    if (isThere(row.before) || !isThere(row.after)) continue;
    for (const check of setNull(checks.byParent.get(row.write.table)))
      returnReferences(file, check, row, rows, version, base);
  }
  for (const row of rows.all()) if (hasReturned(row, version)) rows.set(deliveredWhole(row, version));
}

/**
 * Whether a column that this changeset did not write has its reference again: its parent is back, or a different column
 * of the foreign key was written.
 */
function hasReturned({ before, after }: MergedRow, { watermark }: Version): boolean {
  if (before === undefined || after === undefined || !isThere(after)) return false;
  return [...before.nulled.keys()].some(
    (columnId) => !after.nulled.has(columnId) && after.row.cells.get(columnId)?.version.watermark !== watermark,
  );
}

/** The returned cells keep their old versions, so the row is delivered as a whole, also to the author. */
function deliveredWhole(row: MergedRow, version: Version): MergedRow {
  const known = row.after as KnownRow;
  return { ...row, after: { ...known, row: { ...known.row, revived: { ...version, site: SERVER_SITE } } } };
}

function setNull(checks: readonly ForeignKeyCheck[] = []): readonly ForeignKeyCheck[] {
  return checks.filter(({ rule }) => rule === 'set-null');
}

/** The delete that overrides the reference of an existing row; null if there is none. */
function missingParentOf(
  file: DatabaseFile,
  check: ForeignKeyCheck,
  { write, after }: MergedRow,
  version: WriteVersion,
  base: number,
  unseenDeletes: UnseenDeletes,
): Version | null {
  if (file.sql.get(check.missingParentSql, ...write.key) === undefined) return null;
  const deletes = unseenDeletes.deletesOf(check, referringValues(file, check, write));
  const isWritten = columnIdsOf(check).some(
    (columnId) => after?.row.cells.get(columnId)?.version.watermark === version.watermark,
  );
  // The older reference of a restored row does not imply that the parent exists.
  if (!isWritten) return deletes.at(-1) ?? version;
  const seenUpTo = baseOf(write, base)(EXISTENCE_COLUMN_ID);
  return deletes.find((deleted) => !hasSeen(seenUpTo, version, deleted)) ?? null;
}

function withNull(
  file: DatabaseFile,
  check: ForeignKeyCheck,
  row: MergedRow,
  version: Version,
  reason: Version,
): MergedRow {
  const { write, after } = row;
  const known = after as KnownRow;
  const columnIds = columnIdsOf(check);
  const nulled = new Map(known.nulled);
  for (const columnId of columnIds) nulled.set(columnId, { ...version, site: SERVER_SITE });
  writeShown(file, write.table, row, columnIds, nulled);
  const cells = columnIds.flatMap((columnId) => {
    const cell = known.row.cells.get(columnId);
    return cell === undefined ? [] : [{ columnId, cell }];
  });
  return {
    ...row,
    after: { ...known, nulled },
    conflicts: [
      ...row.conflicts,
      ...cells.map(({ columnId, cell }) => ({
        columnId,
        rule: 'set-null' as const,
        lost: cell,
        won: { value: null, version: reason },
      })),
    ],
    corrected: [
      ...row.corrected,
      ...cells
        .filter(({ columnId, cell }) => cell.version === version && !row.corrected.includes(columnId))
        .map(({ columnId }) => columnId),
    ],
  };
}

/**
 * Restores the references to a parent that this changeset inserts or restores, unless its author had seen them as NULL:
 * a parent that is created again does not get its old children back. A reference that would now break a constraint
 * stays NULL.
 */
function returnReferences(
  file: DatabaseFile,
  check: ForeignKeyCheck,
  { write: parent, after }: MergedRow,
  rows: MergedRows,
  version: Version,
  base: number,
): void {
  const values = referencedValues(check, parent.table, parent.key, after as KnownRow);
  const columnIds = columnIdsOf(check);
  const [firstId] = columnIds;
  if (firstId === undefined || values.includes(null)) return;
  const seenUpTo = baseOf(parent, base)(EXISTENCE_COLUMN_ID);
  for (const key of keysWithReference(file, check.child, firstId, values[0] ?? null)) {
    const row = rows.of(unnamedWrite(check, key));
    const known = row.after;
    if (known === undefined || !isThere(known)) continue;
    const isReference = columnIds.every(
      (columnId, at) =>
        (known.nulled.get(columnId)?.watermark ?? 0) > seenUpTo &&
        known.nulled.get(columnId)?.watermark !== version.watermark &&
        cellValuesEqual(known.row.cells.get(columnId)?.value ?? null, values[at] ?? null),
    );
    if (!isReference) continue;
    const nulled = new Map(known.nulled);
    for (const columnId of columnIds) nulled.delete(columnId);
    if (!canReturn(() => writeShown(file, check.child, row, columnIds, nulled), file)) continue;
    rows.set({ ...row, after: { ...known, nulled } });
  }
}

function canReturn(write: () => void, file: DatabaseFile): boolean {
  try {
    file.sql.savepoint(write);
    return true;
  } catch (error) {
    if (error instanceof RockpoolError) return false;
    throw error;
  }
}

/** Writes the references, or their NULLs, into the app's table. Throws the error of a violated constraint. */
function writeShown(
  file: DatabaseFile,
  table: StoredTable,
  { write: { key }, after }: MergedRow,
  columnIds: readonly number[],
  nulled: Nulled,
): void {
  const values = columnIds.map((columnId) =>
    nulled.has(columnId) ? null : (after?.row.cells.get(columnId)?.value ?? null),
  );
  updateCells(file, table, key, columnIds, values);
}

/** The ids of the child's columns, in the order of the foreign key. */
function columnIdsOf({ child, key }: ForeignKeyCheck): number[] {
  return key.columns.flatMap((name) => child.values.find((column) => column.name === name)?.id ?? []);
}
