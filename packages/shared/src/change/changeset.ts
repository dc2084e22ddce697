import type { CellValue } from './cell-value.ts';

/** The column id that stands for the existence of the row. No real column has it. */
export const EXISTENCE_COLUMN_ID = 0;

export type ChangeKind = 'insert' | 'update' | 'delete';

/**
 * Rows of one table that changed in the same way, stored by column: `keys[k][r]` is part k of the key of row r,
 * `values[c][r]` is the new value of column `columnIds[c]` in row r.
 *
 * - insert: `columnIds` are all stored columns outside the key, in schema order, without generated ones;
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
 * The old values of the rows of one ChangeGroup, in the same order. They never leave the site that wrote them. update:
 * parallel to the columns of the group; delete: the whole row; insert: none.
 */
export interface BeforeGroup {
  readonly columnIds: readonly number[];
  readonly values: readonly (readonly CellValue[])[];
}

/**
 * A cell whose newer server value the author did not see, because an earlier pending write of the same site covered it.
 * For this cell the base of the changeset is too new; `base` is the older watermark up to which the author had seen it.
 */
export interface CellBase {
  readonly tableId: number;
  readonly key: readonly CellValue[];
  readonly columnId: number; // EXISTENCE_COLUMN_ID: the row as a whole
  readonly base: number;
}

/** The net effect of one SQL transaction on the synced tables: at most one change per row. */
export interface ChangesetBody {
  /**
   * Whether the changeset is admitted only if none of its writes loses to a concurrent one. Otherwise it is rejected as
   * a whole, so that no reader sees a part of it.
   */
  readonly atomic: boolean;
  readonly groups: readonly ChangeGroup[];
  readonly cellBases: readonly CellBase[];
}

/**
 * The first changeset from which another one was re-created. Two copies of a client's file may have written different
 * changesets under one site and sequence; the hash distinguishes them. It also proves that the sender has the
 * changeset, because a hash is known only to its author and the server.
 */
export interface ChangesetOrigin {
  readonly siteId: Uint8Array;
  readonly sequence: number;
  readonly hash: Uint8Array;
}

/** A changeset with its position in the changelog of its site. */
export interface Changeset {
  /** 1, 2, 3 … per site, without gaps. */
  readonly sequence: number;
  /** The clock of the author at commit, in µs since 1970. Rises strictly per site. See clock/stamp.ts. */
  readonly stampUs: number;
  /** The watermark of the rows that the author had seen. */
  readonly base: number;
  /** The encoded ChangesetBody. These bytes are hashed, stored and sent, and never encoded again. */
  readonly body: Uint8Array;
  /**
   * The changeset that this one was re-created from: under a new site id, or by a retry after a rejection. This one
   * takes effect only if neither its origin nor another changeset with the same origin does. Absent if the changeset
   * itself is the first.
   */
  readonly origin?: ChangesetOrigin;
}
