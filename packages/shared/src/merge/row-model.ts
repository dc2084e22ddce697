import type { CellValue } from '../change/cell-value.ts';
import type { ChangeKind } from '../change/changeset.ts';
import type { DeleteRule } from '../schema/schema.ts';
import type { Version } from './version.ts';

export interface Cell {
  readonly value: CellValue;
  readonly version: Version;
  /**
   * Of a cell whose writes add up: the last that is of another site than `version` is. Who wrote the last one has not
   * seen them all thereby.
   */
  readonly otherSite?: Version;
}

/**
 * One row as the server holds it, dead or alive.
 *
 * `inserted` is the version of the insert that this row comes from: its incarnation. Two inserts of one key are two
 * incarnations, and one of them wins as a whole. Updates and deletes reach only an incarnation that their author had
 * seen.
 */
export interface StoredRow {
  readonly inserted: Version;
  /** The update that brought the row back last, under `update-wins`. */
  readonly revived: Version | null;
  /**
   * Under `update-wins` the last update of each site: a delete loses to any that its author had not seen, whether or
   * not the update's own cells have been overwritten since. Empty under `delete-wins`.
   */
  readonly updated: ReadonlyMap<string, Version>;
  /** Null while the row is there. The cells of a deleted row are kept: the tombstone's image. */
  readonly deleted: Version | null;
  readonly cells: ReadonlyMap<number, Cell>;
}

/** What one changeset does to one row. */
export interface RowChange {
  readonly kind: ChangeKind;
  /** insert: every column outside the key; update: those that changed, counters as what is added; delete: none. */
  readonly values: ReadonlyMap<number, CellValue>;
  readonly version: Version;
  /** The watermark the author had seen, for a column or (EXISTENCE_COLUMN_ID) for the row as a whole. */
  readonly baseOf: (columnId: number) => number;
}

/** The merge rules of the row's table. */
export interface RowRules {
  readonly deleteRule: DeleteRule;
  readonly counters: ReadonlySet<number>;
  /** Columns that always travel together and have one base, so each decides like the others. */
  readonly groups: readonly (readonly number[])[];
  readonly documents: ReadonlyMap<number, DocumentMerge>;
}

/** How edits get into the documents of one column (document/document.ts). */
export interface DocumentMerge {
  /** False: the value is a whole document or NULL, and takes the place of what is there like any other value. */
  readonly isEdit: (value: CellValue) => boolean;
  /** Whether the author of the edit has this document, apart from what others edited in it. */
  readonly isEditOf: (document: CellValue, edit: CellValue) => boolean;
  /**
   * The document with the edit in it; null when the edit is of a document that is gone. Throws what rejects the
   * changeset.
   */
  readonly merge: (document: CellValue, edit: CellValue, site: string) => MergedDocument | null;
}

export interface MergedDocument {
  readonly document: CellValue;
  /** What two wrote to one place in it at the same time. */
  readonly overwritten: readonly OverwrittenPlace[];
}

/** Values are JSON texts; null where nothing is there any more. */
export interface OverwrittenPlace {
  /** JSON array of the steps from the document down. */
  readonly path: string;
  readonly own: CellValue;
  readonly other: CellValue;
  readonly otherVersion: Version;
  readonly ownStands: boolean;
}

/** Why a write lost. `cascade`: its parent was deleted, and the foreign key says that its children go with it. */
export type MergeRule = 'lww' | 'delete-wins' | 'update-wins' | 'one-insert-wins' | 'cascade';

/** A concurrent write that lost. `columnId` is EXISTENCE_COLUMN_ID where a delete lost. */
export interface Conflict {
  readonly columnId: number;
  /** A place in a document, as OverwrittenPlace has it; the values are its. Not given: the whole cell. */
  readonly path?: string;
  readonly rule: MergeRule;
  readonly lost: { readonly value: CellValue; readonly version: Version };
  readonly won: { readonly value: CellValue; readonly version: Version };
}

export interface RowMerge {
  /** The row afterwards; the same object as before when nothing changed. */
  readonly row: StoredRow | undefined;
  readonly conflicts: readonly Conflict[];
  /** Columns in which the author's own copy now differs from the row: the author must be told their values. */
  readonly corrected: readonly number[];
}
