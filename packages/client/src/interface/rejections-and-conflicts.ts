import type { RejectedChangeset } from '../rpc/rejected-changeset.ts';
import type { SqlStatement } from '../rpc/sql-statement.ts';
import type { Subscribable } from './subscribable.ts';

/**
 * The rejected changesets of this device, oldest first. `current` follows `status.rejectedCount`, with and without
 * listeners: reading it returns the new list as soon as that list is loaded. `list` loads it at once.
 */
export interface RejectedChangesets extends Subscribable<readonly RejectedChangeset[]> {
  /** Reads the list once. */
  list(): Promise<RejectedChangeset[]>;
  /**
   * Applies the same changes to the current rows, and adds the same amounts to counters. Rejects with the constraint
   * that still fails, with `row-missing` if a row that it changes no longer exists, with `document-gone` or
   * `document-place-missing` if a document that it edits is NULL or no longer has the place, with `changeset-undecided`
   * while it is not `decided`, with `changeset-not-rejected`, or, while a migration waits and sync is not
   * connected, with `migration-refused`. The changeset then stays rejected.
   */
  retry(sequence: number): Promise<void>;
  /**
   * Runs other statements instead, for example an edited version of the changes. One transaction runs the statements
   * and removes the changeset from the list; it is `atomic` if the changeset was. Rejects like `retry`, and with any
   * error of the statements.
   */
  replace(sequence: number, statements: readonly (SqlStatement | string)[]): Promise<void>;
  /** Discards the changeset. Rejects with `changeset-undecided` and `changeset-not-rejected`. */
  drop(sequence: number): Promise<void>;
}

export interface Conflicts {
  /**
   * Writes the losing value of a conflict as a new edit: a value is written to its cell (with the rest of its column
   * group) or to its path in a document. Restoring a value of a deleted row restores the row, with all values that the
   * conflict log has. A delete that lost to an update deletes the row.
   *
   * Rejects with `conflict-not-restorable`; the field `problem` is `unknown`, `schema`, `row-gone`, `counter`,
   * `incomplete` or `unnamed-element`.
   */
  restore(id: string): Promise<void>;
}
