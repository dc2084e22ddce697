/** The time, author and log position of a write. */
export interface Version {
  /** The stamp as corrected by the server (clock/stamp.ts). */
  readonly stampUs: number;
  /** The author's site id, 32 hex digits. */
  readonly site: string;
  /** Position in the log of the database. */
  readonly watermark: number;
}

/** Stands for an unknown version; it precedes every other one. */
export const NO_VERSION: Version = { stampUs: 0, site: '0'.repeat(32), watermark: 0 };

/** Orders concurrent writes: by stamp, then by site id. Never 0 for two sites. */
export function compareVersions(a: Version, b: Version): number {
  if (a.stampUs !== b.stampUs) return a.stampUs - b.stampUs;
  if (a.site !== b.site) return a.site < b.site ? -1 : 1;
  return a.watermark - b.watermark;
}

/** Whether the author of a write at `base` had seen `stored`, or wrote it. Then the write is sequential. */
export function hasSeen(base: number, site: string, stored: Version): boolean {
  return stored.watermark <= base || stored.site === site;
}
