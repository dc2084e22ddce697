import type { ErrorData } from '@rockpool/shared';
import type { SqlValue } from './sql-value.ts';

/** One value that a changeset wrote. */
export interface RejectedValue {
  readonly column: string;
  /** What stood there before; absent for a row that was inserted. */
  readonly before?: SqlValue;
  /** What was written; absent for a row that was deleted. */
  readonly after?: SqlValue;
  /**
   * Instead of both, of an edited document: what was changed in it, as JSON (JsonChange of @rockpool/shared/document).
   */
  readonly change?: string;
}

/** What a changeset did to one row. */
export interface RejectedChange {
  readonly table: string;
  readonly kind: 'insert' | 'update' | 'delete';
  /** The parts of the primary key, in key order. */
  readonly key: readonly SqlValue[];
  readonly values: readonly RejectedValue[];
}

/** A transaction of this device that was refused and waits for a decision. Its changes are not in the tables. */
export interface RejectedChangeset {
  /** Names it for `retry` and `drop`. */
  readonly sequence: number;
  /** Why: `constraint-…`, `atomic-conflict` and others. */
  readonly reason: ErrorData;
  /** Wall times in ms, by the clock of this device. */
  readonly writtenMs: number;
  readonly rejectedMs: number;
  /**
   * False: it stands against rows of this device, and the server has yet to say its word. It can be neither tried again
   * nor dropped before.
   */
  readonly decided: boolean;
  readonly atomic: boolean;
  readonly changes: readonly RejectedChange[];
}
