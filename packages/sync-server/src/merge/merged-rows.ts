import type { DatabaseFile } from '../store/database-file.ts';
import { readKnownRow } from '../store/row-store.ts';
import type { RowWrite } from './row-write.ts';
import type { MergedRow } from './merged-row.ts';

/** The merged rows of one changeset, and the rows that cascades delete or bring back. */
export class MergedRows {
  private readonly file: DatabaseFile;
  private readonly byName: Map<string, MergedRow>;

  constructor(file: DatabaseFile, rows: readonly MergedRow[]) {
    this.file = file;
    this.byName = new Map(rows.map((row) => [row.write.name, row]));
  }

  /** The merged row of a write; the stored row if the changeset does not contain it. */
  of(write: RowWrite): MergedRow {
    const named = this.byName.get(write.name);
    if (named !== undefined) return named;
    const known = readKnownRow(this.file, write.table, write.key, write.keyBytes);
    return { write, before: known, after: known, conflicts: [], corrected: [] };
  }

  /** Undefined: the changeset does not name the row, and nothing has taken it along. */
  named(name: string): MergedRow | undefined {
    return this.byName.get(name);
  }

  set(row: MergedRow): void {
    this.byName.set(row.write.name, row);
  }

  all(): MergedRow[] {
    return [...this.byName.values()];
  }
}
