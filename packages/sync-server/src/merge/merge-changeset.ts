import { mergeRow, type Loss, type Version } from '@rockpool/shared';
import type { CorrectedRow } from '../log/corrected-codec.ts';
import { baseOf, type RowWrite } from '../push/read-changeset.ts';
import type { DatabaseFile } from '../store/database-file.ts';
import { readKnownRow, type KnownRow } from '../store/row-store.ts';

/** One row before and after a changeset. */
export interface MergedRow {
  readonly write: RowWrite;
  readonly before: KnownRow | undefined;
  /** The same object as `before` when the changeset leaves the row as it is. */
  readonly after: KnownRow | undefined;
  readonly losses: readonly Loss[];
  /** Columns in which the author's own copy differs from the row now; see RowMerge. */
  readonly corrected: readonly number[];
}

/** Reads what is stored and merges a changeset into it. Writes nothing. */
export function mergeChangeset(file: DatabaseFile, writes: readonly RowWrite[], version: Version, base: number): MergedRow[] {
  const rows: MergedRow[] = [];
  for (const write of writes) {
    const before = readKnownRow(file, write.table, write.key, write.keyBytes);
    const merge = mergeRow(before?.row, { kind: write.kind, values: write.values, version, baseOf: baseOf(write, base) }, write.table.rules);
    rows.push({
      write,
      before,
      after: merge.row === undefined || merge.row === before?.row ? before : { row: merge.row, bornAt: before?.bornAt ?? version.watermark },
      losses: merge.losses,
      corrected: merge.corrected,
    });
  }
  return rows;
}

/** What the author of a changeset has to be told. */
export function correctedRows(rows: readonly MergedRow[]): CorrectedRow[] {
  return rows.flatMap(({ write, corrected }) => (corrected.length === 0 ? [] : [{ tableId: write.table.schema.id, keyBytes: write.keyBytes, columnIds: corrected }]));
}
