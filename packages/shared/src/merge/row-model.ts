import type { CellValue } from '../change/cell-value.ts';
import type { ChangeKind } from '../change/changeset.ts';
import type { Version, WriteVersion } from './version.ts';

export interface Cell {
  readonly value: CellValue;
  readonly version: Version;
  /**
   * For a cell that accumulates writes: the last write by a site other than those of the author of `version`. An author
   * who wrote last has not necessarily seen the other writes.
   */
  readonly otherSite?: Version;
}

/**
 * One row as the server stores it, live or deleted.
 *
 * `inserted` is the version of the insert that created this row: its incarnation. Two inserts of one key are two
 * incarnations, and one of them wins as a whole. Updates and deletes affect only an incarnation that their author had
 * seen.
 */
export interface StoredRow {
  readonly inserted: Version;
  /** The last update that restored the row, under `update-wins`. */
  readonly revived: Version | null;
  /**
   * Under `update-wins`, the last update of each site: a delete loses to any of them that its author had not seen, even
   * if the cells of the update have been overwritten since. Empty under `delete-wins`.
   */
  readonly updated: ReadonlyMap<string, Version>;
  /** Null for a live row. The cells of a deleted row are kept as the image of the tombstone. */
  readonly deleted: Version | null;
  readonly cells: ReadonlyMap<number, Cell>;
}

/** The change of one row by one changeset. */
export interface RowChange {
  readonly kind: ChangeKind;
  /**
   * For an insert, every column outside the key; for an update, the changed columns, as their policies capture them;
   * for a delete, none.
   */
  readonly values: ReadonlyMap<number, CellValue>;
  readonly version: WriteVersion;
  /** The watermark the author had seen, for a column or (EXISTENCE_COLUMN_ID) for the row as a whole. */
  readonly baseOf: (columnId: number) => number;
}

/**
 * Why a write lost. `cascade`: its parent was deleted, and the foreign key deletes children with their parent.
 * `set-null`: its parent was deleted, and the foreign key keeps the child without the reference. `rename`: another row
 * had its unique value first.
 */
export type MergeRule = 'lww' | 'delete-wins' | 'update-wins' | 'one-insert-wins' | 'cascade' | 'set-null' | 'rename';

/** A concurrent write that lost. `columnId` is EXISTENCE_COLUMN_ID if a delete lost. */
export interface Conflict {
  readonly columnId: number;
  /** A path in a document, as in OverwrittenPlace; the values belong to that path. Default: the whole cell. */
  readonly path?: string;
  readonly rule: MergeRule;
  readonly lost: { readonly value: CellValue; readonly version: Version };
  readonly won: { readonly value: CellValue; readonly version: Version };
}

export interface RowMerge {
  /** The row after the merge; the identical object if nothing changed. */
  readonly row: StoredRow | undefined;
  readonly conflicts: readonly Conflict[];
  /** Columns in which the author's copy now differs from the row. The server delivers their values to the author. */
  readonly corrected: readonly number[];
}
