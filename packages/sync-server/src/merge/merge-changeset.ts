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
}

export interface MergedChangeset {
  readonly rows: readonly MergedRow[];
  readonly corrected: readonly CorrectedRow[];
  readonly lossCount: number;
}

/** Reads what is stored and merges a changeset into it. Writes nothing. */
export function mergeChangeset(file: DatabaseFile, writes: readonly RowWrite[], version: Version, base: number): MergedChangeset {
  const rows: MergedRow[] = [];
  const corrected: CorrectedRow[] = [];
  let lossCount = 0;
  for (const write of writes) {
    const before = readKnownRow(file, write.table, write.key, write.keyBytes);
    const merge = mergeRow(before?.row, { kind: write.kind, values: write.values, version, baseOf: baseOf(write, base) }, write.table.rules);
    rows.push({
      write,
      before,
      after: merge.row === undefined || merge.row === before?.row ? before : { row: merge.row, bornAt: before?.bornAt ?? version.watermark },
      losses: merge.losses,
    });
    lossCount += merge.losses.length;
    if (merge.corrected.length > 0) corrected.push({ tableId: write.table.schema.id, keyBytes: write.keyBytes, columnIds: merge.corrected });
  }
  return { rows, corrected, lossCount };
}
