import type { ErrorData } from '@rockpool/shared';
import type { SqlValue } from './sql-value.ts';

/** One value that a rejected or waiting changeset wrote. */
export interface RejectedValue {
  readonly column: string;
  /** The value before the write; absent for an inserted row. */
  readonly before?: SqlValue;
  /** The written value; absent for a deleted row. */
  readonly after?: SqlValue;
  /** The edit of a document, instead of `before` and `after`, as JSON (`JsonChange` of @rockpool/shared/document). */
  readonly change?: string;
}

/** What a rejected or waiting changeset did to one row. */
export interface RejectedChange {
  readonly table: string;
  readonly kind: 'insert' | 'update' | 'delete';
  /** The values of the primary key, in key order. Accepted wherever the API takes a `RowKey`. */
  readonly key: readonly SqlValue[];
  readonly values: readonly RejectedValue[];
}

/**
 * A transaction of this device that the server has not decided. Its changes are in the tables, unless it conflicts with
 * rows of this device; it is then in `rejected` too.
 */
export interface WaitingChangeset {
  /** Identifies the changeset for `withdraw`, as long as it waits. */
  readonly id: string;
  /** Wall time in ms, by the clock of this device. */
  readonly writtenMs: number;
  readonly atomic: boolean;
  readonly changes: readonly RejectedChange[];
}

/** A transaction of this device that was rejected and waits for a decision. Its changes are not in the tables. */
export interface RejectedChangeset {
  /** Identifies the changeset for `retry`, `replace` and `drop`. */
  readonly sequence: number;
  /** Why it was rejected: `constraint-…`, `atomic-conflict` and others; `changeset-withdrawn` by the user. */
  readonly reason: ErrorData;
  /** Wall times in ms, by the clock of this device. */
  readonly writtenMs: number;
  readonly rejectedMs: number;
  /**
   * False while the server has not decided: the changeset conflicts with rows of this device, or was withdrawn. Also
   * false while a new site waits for the full resync that hides what was withdrawn. Until it is true, the changeset
   * cannot be retried, replaced or dropped.
   */
  readonly decided: boolean;
  readonly atomic: boolean;
  readonly changes: readonly RejectedChange[];
}
