/** Reports of a tab's worker to the journal, which is outside the browser and survives its death. */
export type Report =
  /** The time that opening took. Not meaningful for a writer that waited for another writer. */
  | { readonly kind: 'opened'; readonly role: 'writer' | 'reader'; readonly elapsedMs: number }
  /** The COMMIT of the tab's transaction `sequence` returned. */
  | { readonly kind: 'acknowledged'; readonly sequence: number }
  /**
   * What a writer or reader found in the database. `readFrom`: the number of acknowledged transactions of each tab
   * before the check.
   */
  | {
      readonly kind: 'found';
      readonly role: 'writer' | 'reader';
      readonly integrity: string;
      readonly tabs: FoundTabs;
      readonly readFrom: Readonly<Record<string, number>>;
    }
  /** The longest a reader waited for one read while a writer was active. */
  | { readonly kind: 'stall'; readonly longestMs: number; readonly reads: number }
  /** A commit failed because the disk is full; `code` is the storage error. */
  | { readonly kind: 'full'; readonly code: string }
  | { readonly kind: 'failed'; readonly message: string };

/** Each tab's stored transactions: the last one, their number, and the number of incomplete ones. */
export type FoundTabs = Readonly<
  Record<string, { readonly last: number; readonly count: number; readonly incomplete: number }>
>;
