import {
  compareVersions,
  EXISTENCE_COLUMN_ID,
  mergeRow,
  type RowChange,
  type RowMerge,
  type RowRules,
  type StoredRow,
  type Version,
} from '@rockpool/shared';
import { rulesOfRow, type AuthorProgress } from '../documents/document-merge.ts';
import type { CorrectedRow } from '../log/corrected-codec.ts';
import { baseOf, type RowWrite } from './row-write.ts';
import type { DatabaseFile } from '../store/database-file.ts';
import { readKnownRow, type KnownRow } from '../store/row-store.ts';
import { isGoneByCascade, type MergedRow } from './merged-row.ts';

export interface ChangesetProgress extends AuthorProgress {
  /** See ChangesetToDecide. Default: no. */
  readonly isOfOlderEpoch?: boolean;
}

/** Reads what is stored and merges a changeset into it. Writes nothing. */
export function mergeChangeset(
  file: DatabaseFile,
  writes: readonly RowWrite[],
  version: Version,
  { base, isOfOlderEpoch = false, isFollowed }: ChangesetProgress,
): MergedRow[] {
  return writes.map((write) => {
    const before = readKnownRow(file, write.table, write.key, write.keyBytes);
    const change: RowChange = {
      kind: write.kind,
      values: write.values,
      version,
      baseOf: isOfOlderEpoch ? baseOf(write, rowBaseOfOlder(write, before, version, base), 0) : baseOf(write, base),
    };
    const rules = rulesOfRow(file, write, { base, isFollowed });
    const { row, conflicts, corrected } = isGoneByCascade(before)
      ? mergeGone(before as KnownRow, change, write, rules)
      : mergeRow(before?.row, change, rules);
    if (isOfOlderEpoch && write.kind === 'delete' && before === undefined && rules.deleteRule === 'delete-wins')
      return { write, before, after: deletedBefore(version), conflicts, corrected };
    const after =
      row === undefined || row === before?.row
        ? before
        : { row, bornAt: before?.bornAt ?? version.watermark, waitsFor: null };
    return { write, before, after, conflicts, corrected };
  });
}

/**
 * Whoever changes or deletes a row had it, so a row of its key that was made earlier is taken for that one: after a
 * restore others have given it back under a later watermark than the author means. Taken for another row it would stay
 * as it is, and a delete of it would come to nothing without a word.
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
 * A delete of a row that is not there may have come before the row, which whoever had made it gives back later. It
 * stays: the insert is the earlier of the two. An update that wins against it would have a part of the row alone to
 * bring back, so this is for `delete-wins`.
 */
function deletedBefore(version: Version): KnownRow {
  return {
    row: { inserted: version, revived: null, updated: new Map(), deleted: version, cells: new Map() },
    bornAt: version.watermark,
    waitsFor: null,
  };
}

/**
 * A row that went with its parent is merged as if it were still there: whether it is, is for its parents to say once
 * all rows are merged (cascade.ts). So the order in which the parent's delete and the writes of the child arrive does
 * not matter.
 */
function mergeGone({ row: gone }: KnownRow, change: RowChange, { values }: RowWrite, rules: RowRules): RowMerge {
  const standing: StoredRow = { ...gone, deleted: null };
  const merge = mergeRow(standing, change, rules);
  if (merge.row === undefined || merge.row === standing) return mergeRow(gone, change, rules);
  if (change.kind !== 'update') return merge;
  // Its author may have been told that it is gone: everybody is given the whole row.
  return {
    ...merge,
    row: { ...merge.row, revived: change.version },
    corrected: [EXISTENCE_COLUMN_ID, ...values.keys()],
  };
}

/** What the author of a changeset has to be told. */
export function correctedRows(rows: readonly MergedRow[]): CorrectedRow[] {
  return rows.flatMap(({ write, corrected }) =>
    corrected.length === 0 ? [] : [{ tableId: write.table.schema.id, keyBytes: write.keyBytes, columnIds: corrected }],
  );
}
