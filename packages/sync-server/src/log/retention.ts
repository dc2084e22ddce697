/** How long the server keeps what only some clients still need. */
export interface Retention {
  /**
   * A site is live when it has been at the log's end within this time; what every live site has passed may be
   * forgotten. Older tombstones are pruned, and a site that comes back later is given the whole state in the place of
   * its rows. Its outbox, local tables and site id stay. Default: 30 days, longer than a holiday; what is kept costs
   * the server the space of a deleted row.
   */
  readonly tombstonesMs: number;
  /**
   * Entries of the conflict log are kept this long after they were decided. Default: 90 days, time enough for a person
   * to miss something and ask.
   */
  readonly conflictsMs: number;
  /**
   * And at most this many in one database; the oldest go first. Those of the newest commit are always kept. Default:
   * 10,000, some megabytes on every device, and more than anybody will look through.
   */
  readonly maxConflicts: number;
}

const DAY_MS = 24 * 3600 * 1000;

export const RETENTION: Retention = { tombstonesMs: 30 * DAY_MS, conflictsMs: 90 * DAY_MS, maxConflicts: 10_000 };
