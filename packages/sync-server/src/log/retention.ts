/** How long the server keeps data that only some clients still need. */
export interface Retention {
  /**
   * Retention of tombstones, in ms. A site that reached the end of the log within this time has seen every older
   * delete. Older tombstones are pruned, and a site that returns later gets a full resync; it keeps its outbox, local
   * tables and site id. Default: 30 days, longer than a holiday. Each tombstone takes the space of its deleted row.
   */
  readonly tombstonesMs: number;
  /**
   * Retention of entries of the conflict log, in ms from their decision. Default: 90 days, enough time for a user to
   * notice that a value is missing and ask for it.
   */
  readonly conflictsMs: number;
  /**
   * The maximum number of entries in the conflict log of one database. The oldest are deleted first; those of the
   * newest commit are always kept. Default: 10,000, which take a few megabytes on every device and are more than a user
   * will read.
   */
  readonly maxConflicts: number;
}

const DAY_MS = 24 * 3600 * 1000;

export const RETENTION: Retention = { tombstonesMs: 30 * DAY_MS, conflictsMs: 90 * DAY_MS, maxConflicts: 10_000 };
