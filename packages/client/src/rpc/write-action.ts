import type { SqlParam } from './sql-value.ts';

/**
 * A request to the writer that accompanies plain statements (`atomic`, `replace-rejected`) or replaces them (all
 * others).
 */
export type WriteAction =
  /** With this, the server admits or rejects the transaction as a whole. */
  | { readonly kind: 'atomic' }
  /** Commits the open transaction with this id, which is also the request id, so it commits only once. */
  | { readonly kind: 'commit-transaction'; readonly transactionId: string }
  /** Applies the changes of a rejected changeset again. */
  | { readonly kind: 'retry-rejected'; readonly sequence: number }
  /** Runs the statements instead of a rejected changeset; atomic if the changeset was. */
  | { readonly kind: 'replace-rejected'; readonly sequence: number }
  /** Discards a rejected changeset. */
  | { readonly kind: 'drop-rejected'; readonly sequence: number }
  /** Withdraws the waiting changeset with this id. Has one result if it waited or had been withdrawn; else none. */
  | { readonly kind: 'withdraw'; readonly id: string }
  /**
   * Applies a change (JsonChange, as JSON) to the current document of a row. The single row of the result has the new
   * content of the column as `text`.
   */
  | {
      readonly kind: 'change-document';
      readonly table: string;
      readonly key: readonly SqlParam[];
      readonly column: string;
      readonly changeJson: string;
    }
  /** Writes the old values of an earlier request as a new edit. */
  | { readonly kind: 'undo'; readonly requestId: string }
  /** Opens no connection until sync is resumed, in any tab or after any restart. */
  | { readonly kind: 'pause-sync' }
  | { readonly kind: 'resume-sync' }
  /** Writes the losing value of a conflict-log entry as a new edit. */
  | { readonly kind: 'restore-conflict'; readonly conflictId: string };
