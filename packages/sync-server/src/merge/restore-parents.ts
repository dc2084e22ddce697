import {
  compareVersions,
  encodeKey,
  EXISTENCE_COLUMN_ID,
  hasSeen,
  mergeRow,
  type Cell,
  type CellValue,
  type RowChange,
  type Version,
  type WriteVersion,
} from '@rockpool/shared';
import type { AuthorProgress } from '../documents/document-merge.ts';
import type { StoredTable } from '../sqlite/stored-table.ts';
import type { DatabaseFile } from '../store/database-file.ts';
import { readKnownRow, type KnownRow } from '../store/row-store.ts';
import { referencedKey, type ForeignKeyCheck, type ForeignKeyChecks } from './foreign-keys.ts';
import { isThere, type MergedRow } from './merged-row.ts';
import { baseOf, rowName, type RowWrite } from './row-write.ts';

/** A reference to the parents of a row, and the write that created it. */
interface Reference {
  readonly write: RowWrite;
  readonly cells: ReadonlyMap<number, Pick<Cell, 'value'>>;
  readonly by: Version;
}

/**
 * Applies `restore-parent` to a merged changeset, and returns its rows with the parents that it refers to. A write of a
 * reference counts as an update of the parent that changes no column. The parent's table has `update-wins`, so both
 * orders of arrival produce the same rows, even when the reference is moved away in the meantime:
 *
 *   child, then the parent's delete    the delete loses to the reference
 *   the parent's delete, then child    the reference brings the parent back with its last values
 *
 * A write that loses does the same, because whether it loses depends on what arrived before. A row that comes back, or
 * that a delete of this changeset did not delete, refers to its parents again, so that chains of parents are kept.
 *
 * Call it before the rows are written.
 */
export function restoreParents(
  file: DatabaseFile,
  checks: ForeignKeyChecks,
  merged: readonly MergedRow[],
  version: WriteVersion,
  progress: AuthorProgress,
): readonly MergedRow[] {
  if (!merged.some(({ write }) => restoring(checks, write.table).length > 0)) return merged;
  const rows = new Map(merged.map((row) => [row.write.name, row]));
  const references = merged.flatMap((row) => referencesOf(checks, row, version));
  for (let next = references.pop(); next !== undefined; next = references.pop()) {
    for (const check of restoring(checks, next.write.table)) {
      const key = referencedKey(check, next.write, next.cells);
      if (key === null) continue;
      const name = rowName(check.parent.schema.id, key);
      const known = rows.get(name);
      const kept =
        known === undefined
          ? withReference(file, check.parent, key, version, progress)
          : withoutDelete(known, next.by, progress.base);
      if (kept === null) continue;
      rows.set(name, kept);
      if (known !== undefined || !isThere(kept.before))
        references.push({ write: kept.write, cells: (kept.after as KnownRow).row.cells, by: next.by });
    }
  }
  return [...rows.values()];
}

function restoring(checks: ForeignKeyChecks, table: StoredTable): readonly ForeignKeyCheck[] {
  const ofTable = checks.byChild.get(table) ?? [];
  return ofTable.some(({ rule }) => rule === 'restore-parent')
    ? ofTable.filter(({ rule }) => rule === 'restore-parent')
    : NONE;
}

const NONE: readonly ForeignKeyCheck[] = [];

function referencesOf(
  checks: ForeignKeyChecks,
  { write, before, after, conflicts }: MergedRow,
  version: WriteVersion,
): Reference[] {
  const ofTable = restoring(checks, write.table);
  if (ofTable.length === 0) return [];
  const cells = (after ?? before)?.row.cells ?? NO_CELLS;
  if (write.kind === 'delete') {
    const winner = conflicts.find(({ columnId }) => columnId === EXISTENCE_COLUMN_ID)?.won.version;
    return winner === undefined || !isThere(after) ? [] : [{ write, cells, by: winner }];
  }
  const isBack = before !== undefined && !isThere(before) && isThere(after);
  const writtenCells = new Map<number, Pick<Cell, 'value'>>(cells);
  for (const [columnId, value] of write.values) writtenCells.set(columnId, { value });
  return [
    ...(isBack ? [{ write, cells, by: version }] : []),
    ...(write.kind === 'insert' || ofTable.some((check) => writes(check, write))
      ? [{ write, cells: writtenCells, by: version }]
      : []),
  ];
}

function writes({ child, key }: ForeignKeyCheck, { values }: RowWrite): boolean {
  return child.values.some(({ id, name }) => key.columns.includes(name) && values.has(id));
}

/**
 * A parent that the changeset does not contain. Null if it never existed, or if the author had seen it deleted or
 * refers to an earlier row of this key.
 */
function withReference(
  file: DatabaseFile,
  table: StoredTable,
  key: readonly CellValue[],
  version: WriteVersion,
  { base, isOfOlderEpoch = false }: AuthorProgress,
): MergedRow | null {
  const keyBytes = encodeKey(key);
  const before = readKnownRow(file, table, key, keyBytes);
  if (before === undefined) return null;
  const { deleted } = before.row;
  if (deleted !== null && hasSeen(base, version, deleted)) return null;
  // After a restore, an earlier row of the key counts as the row that its author had (merge-changeset.ts).
  const { inserted } = before.row;
  const rowBase = isOfOlderEpoch && compareVersions(inserted, version) < 0 ? Math.max(base, inserted.watermark) : base;
  const change: RowChange = { kind: 'update', values: NO_VALUES, version, baseOf: () => rowBase };
  const { row, conflicts, corrected } = mergeRow(before.row, change, table.rules);
  if (row === undefined || row === before.row) return null;
  const cells = isThere(before) ? before.row.cells : row.cells;
  return {
    write: {
      table,
      kind: 'update',
      key,
      keyBytes,
      name: rowName(table.schema.id, key),
      values: NO_VALUES,
      cellBases: NO_BASES,
    },
    before,
    after: { ...before, row: { ...row, cells }, waitsFor: null },
    conflicts,
    corrected,
  };
}

/** A parent that the changeset deletes, merged again with a reference that its author had not seen. */
function withoutDelete(
  { write, before, after, corrected }: MergedRow,
  by: WriteVersion,
  base: number,
): MergedRow | null {
  const version = after?.row.deleted ?? null;
  if (write.kind !== 'delete' || version === null || before === undefined || !isThere(before)) return null;
  const updated = new Map(before.row.updated).set(by.site, by);
  const change: RowChange = { kind: 'delete', values: NO_VALUES, version, baseOf: baseOf(write, base) };
  const merge = mergeRow({ ...before.row, updated }, change, write.table.rules);
  if (merge.row === undefined || merge.row.deleted !== null) return null;
  return {
    write,
    before,
    after: { ...before, row: { ...before.row, updated } },
    conflicts: merge.conflicts,
    corrected: [...new Set([...corrected, ...merge.corrected])],
  };
}

const NO_VALUES: ReadonlyMap<number, CellValue> = new Map();
const NO_CELLS: ReadonlyMap<number, Cell> = new Map();
const NO_BASES: ReadonlyMap<number, number> = new Map();
