import type { CellValue } from './cell-value.ts';

/** `columnId` of "does this row exist" where columns are listed. No real column has it. */
export const EXISTENCE_COLUMN_ID = 0;

export type ChangeKind = 'insert' | 'update' | 'delete';

/**
 * Rows of one table that changed in the same way, held by column: `keys[k][r]` is part k of the key of row r,
 * `values[c][r]` the new value of column `columnIds[c]` in row r.
 *
 * - insert: `columnIds` are all columns outside the key that are stored (not generated), in schema order;
 * - update: the columns that changed; a changed key is a delete and an insert;
 * - delete: no columns.
 */
export interface ChangeGroup {
  readonly tableId: number;
  readonly kind: ChangeKind;
  readonly rowCount: number;
  readonly keys: readonly (readonly CellValue[])[];
  readonly columnIds: readonly number[];
  readonly values: readonly (readonly CellValue[])[];
}

/**
 * The old values of the rows of one ChangeGroup, in the same order of rows. They stay on the site that wrote them.
 * update: parallel to the group's columns; delete: the whole row; insert: nothing.
 */
export interface BeforeGroup {
  readonly columnIds: readonly number[];
  readonly values: readonly (readonly CellValue[])[];
}

/**
 * A cell whose newer server value the author could not see, because an earlier pending write of the same site covered
 * it. For this cell the changeset's base is too new; `base` here is the older watermark that the author had really
 * seen.
 */
export interface CellBase {
  readonly tableId: number;
  readonly key: readonly CellValue[];
  readonly columnId: number; // EXISTENCE_COLUMN_ID: the row as a whole
  readonly base: number;
}

/** What one SQL transaction changed in the synced tables: its net effect, one change per row at most. */
export interface ChangesetBody {
  /**
   * Admitted only if nothing of it loses to a concurrent write; otherwise rejected whole, so that nobody ever sees a
   * part of it.
   */
  readonly atomic: boolean;
  readonly groups: readonly ChangeGroup[];
  readonly cellBases: readonly CellBase[];
}

/** A changeset with its place in its site's changelog. */
export interface Changeset {
  /** 1, 2, 3 … per site, without gaps. */
  readonly sequence: number;
  /** The author's own clock at commit, in µs since 1970, always rising per site. See clock/stamp.ts. */
  readonly stampUs: number;
  /** The watermark that the author's rows were at. */
  readonly base: number;
  /** The encoded ChangesetBody: hashed, stored and sent as these bytes, never encoded again. */
  readonly body: Uint8Array;
}
