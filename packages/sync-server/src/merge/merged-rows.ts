import { MAX_CHANGESET_CELLS, RockpoolError } from '@rockpool/shared';
import type { DatabaseFile } from '../store/database-file.ts';
import { readKnownRow } from '../store/row-store.ts';
import type { RowWrite } from './row-write.ts';
import type { MergedRow } from './merged-row.ts';

/**
 * The maximum number of rows that the foreign keys of one changeset may delete or restore. Each takes several times the
 * memory and time of a row that the changeset contains.
 */
export const MAX_CASCADED_ROWS: number = 32 * 1024;

/** The merged rows of one changeset, and the rows that cascades delete or restore. */
export class MergedRows {
  private readonly file: DatabaseFile;
  private readonly byName: Map<string, MergedRow>;
  private readonly namedCount: number;
  private cascadedCells = 0;

  constructor(file: DatabaseFile, rows: readonly MergedRow[]) {
    this.file = file;
    this.byName = new Map(rows.map((row) => [row.write.name, row]));
    this.namedCount = this.byName.size;
  }

  /** The merged row of a write; the stored row if the changeset does not contain it. */
  of(write: RowWrite): MergedRow {
    const named = this.byName.get(write.name);
    if (named !== undefined) return named;
    const known = readKnownRow(this.file, write.table, write.key, write.keyBytes);
    return { write, before: known, after: known, conflicts: [], corrected: [] };
  }

  /** Undefined if neither the changeset nor a foreign key touches the row. */
  named(name: string): MergedRow | undefined {
    return this.byName.get(name);
  }

  /** Replaces a row, or adds one that a foreign key deletes or restores. Throws `changeset-too-large`. */
  set(row: MergedRow): void {
    if (!this.byName.has(row.write.name)) this.cascadedCells += row.after?.row.cells.size ?? 0;
    this.byName.set(row.write.name, row);
    if (this.room < 0 || this.cascadedCells > MAX_CHANGESET_CELLS) throw tooLarge();
  }

  /** How many more rows foreign keys may delete or restore. */
  get room(): number {
    return MAX_CASCADED_ROWS - (this.byName.size - this.namedCount);
  }

  all(): MergedRow[] {
    return [...this.byName.values()];
  }
}

function tooLarge(): RockpoolError {
  return new RockpoolError('changeset-too-large', {
    problem: 'foreign keys delete too many rows at once; delete the rows in smaller transactions first',
    limitRows: MAX_CASCADED_ROWS,
    limitCells: MAX_CHANGESET_CELLS,
  });
}
