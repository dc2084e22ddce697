import type { SqlValue } from '../rpc/sql-value.ts';
import type { BranchRowChange } from './branch-merge.ts';

/** Selects the transactions that meet every condition. A version or a time is required. */
export interface RestoreSelection {
  /** The site that wrote them, 32 hex digits: `siteId` of a version. */
  readonly site?: string;
  /** The principal who wrote them: `author` of a version. */
  readonly author?: string;
  /** Written at or after this time, in ms since 1970: `writtenMs` of a version. */
  readonly fromMs?: number;
  /** Written at or before this time, in ms since 1970. */
  readonly toMs?: number;
  /** The transaction of one version. */
  readonly version?: number;
  /** Default: every table with a history. */
  readonly tables?: readonly string[];
}

/**
 * A value or row that was written again after the transactions. `cell`: the values of one column; in a document,
 * the choice applies only to the places that were written again, or removed. `deleted-since`: the row was deleted.
 * `deleted-by-restore`: the restore deletes a row that has been changed since, or that other rows now refer to.
 */
export interface RestoreConflict {
  readonly kind: 'cell' | 'deleted-by-restore' | 'deleted-since';
  readonly table: string;
  readonly key: readonly SqlValue[];
  /** Null for a conflict of rows. */
  readonly column: string | null;
  /** The value that the transactions wrote. */
  readonly written: SqlValue;
  /** The value without the transactions. */
  readonly restored: SqlValue;
  /** The value now. */
  readonly current: SqlValue;
}

/** What a restore would write. */
export interface RestorePreview {
  /** The rows that the restore changes, relative to their current values. Conflicts contain the restored values. */
  readonly rows: readonly BranchRowChange[];
  readonly conflicts: readonly RestoreConflict[];
}

export interface RestorePlanOptions {
  /**
   * Whether to restore a value that was written again. Without this option, `apply` rejects if a conflict exists; with
   * any other value, or a function that returns one, it rejects with `config-invalid`.
   */
  readonly conflicts?: 'restore' | 'keep' | ((conflict: RestoreConflict) => 'restore' | 'keep');
}

/** See `client.planRestore`. */
export interface RestorePlan extends RestorePreview {
  /** The number of transactions that the plan undoes. */
  readonly transactions: number;
  /**
   * Writes the restore to the current rows, once: a later call resolves with the same result. The app's triggers do not
   * run, because versions include what they wrote. Rejects with `restore-conflicts`, and with the errors of a
   * transaction. After an error it can be called again. If the outcome of an earlier call is unknown, such as after
   * `worker-stuck`, the next call first finds out whether it was committed.
   */
  apply(options?: RestorePlanOptions): Promise<RestorePreview>;
}
