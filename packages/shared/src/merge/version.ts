/** The time, author and log position of a write. */
export interface Version {
  /** The stamp as corrected by the server (clock/stamp.ts). */
  readonly stampUs: number;
  /** The author's site id, 32 hex digits. */
  readonly site: string;
  /** Position in the log of the database. */
  readonly watermark: number;
}

/** The version that a write gets when it is merged. */
export interface WriteVersion extends Version {
  /**
   * Earlier site ids of the author's file, each with the watermark up to which the author wrote what that site wrote.
   * Default: none.
   */
  readonly earlierSites?: ReadonlyMap<string, number> | undefined;
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
export function hasSeen(base: number, author: WriteVersion, stored: Version): boolean {
  return stored.watermark <= base || isOwn(author, stored);
}

/** Whether the author of a write also wrote `stored`, under the same site id or an earlier one. */
export function isOwn({ site, earlierSites }: WriteVersion, stored: Version): boolean {
  return stored.site === site || stored.watermark <= (earlierSites?.get(stored.site) ?? -1);
}
