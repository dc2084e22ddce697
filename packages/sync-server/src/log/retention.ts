/** How long the server keeps what only some clients still need. */
export interface Retention {
  /**
   * A site is live when it has been at the log's end within this time; what every live site has passed may be forgotten. Older tombstones are
   * pruned, and a site that comes back later is given the whole state in the place of its rows. Its outbox, local tables and site id stay.
   * Default: 30 days, longer than a holiday; what is kept costs the server the space of a deleted row.
   */
  readonly tombstonesMs: number;
}

export const RETENTION: Retention = { tombstonesMs: 30 * 24 * 3600 * 1000 };
