/** Reports of a tab's worker to the journal, which is outside the browser and survives its death. */
export type Report =
  /** A writer has opened the database. The time is not meaningful if it waited for another writer. */
  | { readonly kind: 'opened'; readonly elapsedMs: number; readonly work: OpeningWork }
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

/** What a writer's opening had to do. */
export interface OpeningWork {
  /** Whether no other writer held the lock. */
  readonly isLockFree: boolean;
  /** The number of attempts to open a file that the browser refused. */
  readonly refusedHandles: number;
  /** The size of both segments of the log. */
  readonly logBytes: number;
  /** The number of bytes that were read from all files. */
  readonly readBytes: number;
  /** How many of them were read again: by a read of the same file, position and length. */
  readonly rereadBytes: number;
}

/** Each tab's stored transactions: the last one, their number, and the number of incomplete ones. */
export type FoundTabs = Readonly<
  Record<string, { readonly last: number; readonly count: number; readonly incomplete: number }>
>;
