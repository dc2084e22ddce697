import type { SqlValue } from '../rpc/sql-value.ts';
import type { DocumentOperation } from './row-history.ts';

/** A branch of a database on this device. */
export interface BranchInfo {
  readonly name: string;
  readonly sizeBytes: number;
}

/** A row that a branch changed. */
export interface BranchRowChange {
  readonly table: string;
  /** The values of the primary key, in key order. */
  readonly key: readonly SqlValue[];
  readonly kind: 'insert' | 'update' | 'delete';
  readonly changes: readonly BranchCellChange[];
}

export interface BranchCellChange {
  readonly column: string;
  /** NULL in an inserted row. For a document, its JSON text. */
  readonly before: SqlValue;
  /** NULL in a deleted row. */
  readonly after: SqlValue;
  /** What changed in a document; null for other columns. */
  readonly operations: readonly DocumentOperation[] | null;
}

/**
 * A value or row that both the branch and its origin changed. `cell`: the values of one column. A document is in
 * conflict if both changed the same place of it, or the origin removed a place that the branch changed. Then the choice
 * applies only to such places, and all other changes of both are kept. `deleted-in-branch`, `deleted-in-origin`: one
 * deleted the row and the other changed it; `column` is null.
 */
export interface BranchConflict {
  readonly kind: 'cell' | 'deleted-in-branch' | 'deleted-in-origin';
  readonly table: string;
  readonly key: readonly SqlValue[];
  readonly column: string | null;
  /** The value at the beginning of the branch; null for a conflict of rows. */
  readonly base: SqlValue;
  /** The value in the branch. */
  readonly ours: SqlValue;
  /** The value in the origin. */
  readonly theirs: SqlValue;
}

/** The writes of a merge to the origin. */
export interface BranchPreview {
  /**
   * The rows that the merge changes in the origin, relative to their current values. Conflicts contain the branch's
   * values.
   */
  readonly rows: readonly BranchRowChange[];
  readonly conflicts: readonly BranchConflict[];
}

export interface BranchMergeOptions {
  /**
   * Which value to keep in a conflict. Without it, `merge` rejects if a conflict exists; with any other value, or a
   * function that returns one, it rejects with `config-invalid`.
   */
  readonly conflicts?: 'branch' | 'origin' | ((conflict: BranchConflict) => 'branch' | 'origin');
}
