import type { DatabaseFile } from '../store/database-file.ts';
import { SERVER_SITE } from '../sqlite/internal-tables.ts';
import { readKnownRow, type KnownRow } from '../store/row-store.ts';
import type { RowWrite } from '../admission/read-changeset.ts';
import type { MergedRow } from './merge-changeset.ts';

/** The rows of one changeset as they are merged so far, and the rows that go or come with them. */
export class MergedRows {
  private readonly file: DatabaseFile;
  private readonly byName: Map<string, MergedRow>;

  constructor(file: DatabaseFile, rows: readonly MergedRow[]) {
    this.file = file;
    this.byName = new Map(rows.map((row) => [row.write.name, row]));
  }

  /** A row that the changeset does not name is as it is stored. */
  of(write: RowWrite): MergedRow {
    const named = this.byName.get(write.name);
    if (named !== undefined) return named;
    const known = readKnownRow(this.file, write.table, write.key, write.keyBytes);
    return { write, before: known, after: known, conflicts: [], corrected: [] };
  }

  set(row: MergedRow): void {
    this.byName.set(row.write.name, row);
  }

  all(): MergedRow[] {
    return [...this.byName.values()];
  }
}

export function isThere(known: KnownRow | undefined): boolean {
  return known?.row.deleted === null;
}

/** Nobody deleted the row: it went with its parent. */
export function isGoneByCascade(known: KnownRow | undefined): boolean {
  return known?.row.deleted?.site === SERVER_SITE;
}
