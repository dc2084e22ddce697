/** What the worker of a tab tells the journal, which lives outside the browser and survives its death. */
export type Report =
  /** A writer or reader opened, after so long. Of a writer that had to wait for another one this says little. */
  | { readonly kind: 'opened'; readonly role: 'writer' | 'reader'; readonly elapsedMs: number }
  /** COMMIT of the tab's transaction `sequence` has returned. */
  | { readonly kind: 'acknowledged'; readonly sequence: number }
  /**
   * What a writer found, or a reader; `readFrom` is the number of acknowledged transactions of each tab before it
   * looked.
   */
  | {
      readonly kind: 'found';
      readonly role: 'writer' | 'reader';
      readonly integrity: string;
      readonly tabs: FoundTabs;
      readonly readFrom: Readonly<Record<string, number>>;
    }
  /** The longest that a reader waited for one read beside a writer. */
  | { readonly kind: 'stall'; readonly longestMs: number; readonly reads: number }
  /** A commit found no room; `code` is the storage's. */
  | { readonly kind: 'full'; readonly code: string }
  | { readonly kind: 'failed'; readonly message: string };

/**
 * Each tab's transactions as they are stored: its last one, their number, and how many do not have all of their rows.
 */
export type FoundTabs = Readonly<
  Record<string, { readonly last: number; readonly count: number; readonly incomplete: number }>
>;
