import {
  compareVersions,
  EXISTENCE_COLUMN_ID,
  mergeRow,
  type RowChange,
  type RowMerge,
  type RowRules,
  type StoredRow,
  type Version,
  type WriteVersion,
} from '@rockpool/shared';
import { rulesOfRow, type AuthorProgress } from '../documents/document-merge.ts';
import type { CorrectedRow } from '../log/corrected-codec.ts';
import type { StoredTable } from '../sqlite/stored-table.ts';
import { baseOf, type RowWrite } from './row-write.ts';
import type { DatabaseFile } from '../store/database-file.ts';
import { NOTHING_NULLED, type Nulled } from '../store/nulled-references.ts';
import { readKnownRow, type KnownRow } from '../store/row-store.ts';
import { isGoneByCascade, type MergedRow } from './merged-row.ts';

/** Merges a changeset with the stored rows. Writes nothing. */
export function mergeChangeset(
  file: DatabaseFile,
  writes: readonly RowWrite[],
  version: WriteVersion,
  progress: AuthorProgress,
): MergedRow[] {
  const { base, isOfOlderEpoch = false } = progress;
  return writes.map((write) => {
    const before = readKnownRow(file, write.table, write.key, write.keyBytes);
    const change: RowChange = {
      kind: write.kind,
      values: write.values,
      version,
      baseOf: isOfOlderEpoch ? baseOf(write, rowBaseOfOlder(write, before, version, base), 0) : baseOf(write, base),
    };
    const rules = rulesOfRow(file, write, progress);
    const { row, conflicts, corrected } = isGoneByCascade(before)
      ? mergeGone(before as KnownRow, change, write, rules)
      : mergeRow(before?.row, change, rules);
    if (isOfOlderEpoch && write.kind === 'delete' && before === undefined && rules.deleteRule === 'delete-wins')
      return { write, before, after: deletedBefore(version), conflicts, corrected };
    const after =
      row === undefined || row === before?.row
        ? before
        : {
            row,
            bornAt: before?.bornAt ?? version.watermark,
            waitsFor: null,
            nulled: stillNulled(write.table, before, row),
          };
    return { write, before, after, conflicts, corrected };
  });
}

/**
 * Returns the references that stay NULL. If one column of a foreign key was written, omits all its columns, because
 * null-references.ts checks them again.
 */
function stillNulled({ schema, values }: StoredTable, before: KnownRow | undefined, row: StoredRow): Nulled {
  if (before === undefined || before.nulled.size === 0 || row.deleted !== null) return NOTHING_NULLED;
  const nulled = new Map(before.nulled);
  for (const { columns } of schema.foreignKeys) {
    const ids = values.filter(({ name }) => columns.includes(name)).map(({ id }) => id);
    if (ids.some((id) => row.cells.get(id) !== before.row.cells.get(id))) for (const id of ids) nulled.delete(id);
  }
  return nulled;
}

/**
 * The row base of a changeset from an older log epoch. An author who updates or deletes a row has seen it, so an
 * earlier insert of the key counts as that row: after a restore, other sites have pushed it again under a later
 * watermark. Otherwise that insert would count as a different row, and the update or delete would be ignored silently.
 */
function rowBaseOfOlder(
  { kind, cellBases }: RowWrite,
  before: KnownRow | undefined,
  version: Version,
  base: number,
): number {
  if (kind === 'insert' || cellBases.has(EXISTENCE_COLUMN_ID) || before === undefined) return base;
  return compareVersions(before.row.inserted, version) < 0 ? Math.max(base, before.row.inserted.watermark) : base;
}

/**
 * The tombstone of a row that does not exist. After a restore a delete may arrive before the row's insert is pushed
 * again; the tombstone then wins over that earlier insert. Only for `delete-wins`: an update that wins over the
 * tombstone could bring back only a part of the row.
 */
function deletedBefore(version: Version): KnownRow {
  return {
    row: { inserted: version, revived: null, updated: new Map(), deleted: version, cells: new Map() },
    bornAt: version.watermark,
    waitsFor: null,
    nulled: NOTHING_NULLED,
  };
}

/**
 * Merges a write of a row that was deleted by cascade as if the row existed. cascade.ts decides after all rows are
 * merged whether its parents exist. The order of the parent's delete and the child's writes therefore does not matter.
 */
function mergeGone({ row: gone }: KnownRow, change: RowChange, { values }: RowWrite, rules: RowRules): RowMerge {
  const standing: StoredRow = { ...gone, deleted: null };
  const merge = mergeRow(standing, change, rules);
  if (merge.row === undefined || merge.row === standing) return mergeRow(gone, change, rules);
  if (change.kind !== 'update') return merge;
  // The author may have received the row's delete, so the whole row is delivered again.
  return {
    ...merge,
    row: { ...merge.row, revived: change.version },
    corrected: [EXISTENCE_COLUMN_ID, ...values.keys()],
  };
}

/** The rows in which the author's own copy differs from the merged row. */
export function correctedRows(rows: readonly MergedRow[]): CorrectedRow[] {
  return rows.flatMap(({ write, corrected }) =>
    corrected.length === 0 ? [] : [{ tableId: write.table.schema.id, keyBytes: write.keyBytes, columnIds: corrected }],
  );
}
