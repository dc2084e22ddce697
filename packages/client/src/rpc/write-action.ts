import type { SqlParam } from './sql-value.ts';

/**
 * What is asked of the writer beside plain statements, which it goes with (`atomic`, `replace-rejected`) or stands for
 * (the others).
 */
export type WriteAction =
  /** The server admits all of the transaction or refuses all of it. */
  | { readonly kind: 'atomic' }
  /**
   * Commit the transaction that was asked for under this id, which is the id of the request too: it is committed once.
   */
  | { readonly kind: 'commit-transaction'; readonly transactionId: string }
  /** Write what a rejected changeset says once more. */
  | { readonly kind: 'retry-rejected'; readonly sequence: number }
  /** Carry out the statements in the place of a rejected changeset; whole in the merge, if it was to be. */
  | { readonly kind: 'replace-rejected'; readonly sequence: number }
  /** Give a rejected changeset up. */
  | { readonly kind: 'drop-rejected'; readonly sequence: number }
  /**
   * Make a change (JsonChange, as JSON) in the document of a row as it is now. The one row of the one result has what
   * the column then holds, as `text`.
   */
  | {
      readonly kind: 'change-document';
      readonly table: string;
      readonly key: readonly SqlParam[];
      readonly column: string;
      readonly changeJson: string;
    }
  /** Write the old values of what was written under a request's id, as a new edit. */
  | { readonly kind: 'undo'; readonly requestId: string }
  /** No connection is made until sync is resumed, whatever else happens to tabs and pages. */
  | { readonly kind: 'pause-sync' }
  | { readonly kind: 'resume-sync' }
  /** Write what an entry of the conflict log lost as a new edit. */
  | { readonly kind: 'restore-conflict'; readonly conflictId: string };
