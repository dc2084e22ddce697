/** What is asked of the writer beside plain statements, which it goes with (`atomic`) or stands for (the others). */
export type WriteAction =
  /** The server admits all of the transaction or refuses all of it. */
  | { readonly kind: 'atomic' }
  /** Write what a parked changeset says once more. */
  | { readonly kind: 'retry-parked'; readonly sequence: number }
  /** Give a parked changeset up. */
  | { readonly kind: 'drop-parked'; readonly sequence: number }
  /** Write what an entry of the conflict ledger lost as a new edit. */
  | { readonly kind: 'restore-conflict'; readonly conflictId: string };
