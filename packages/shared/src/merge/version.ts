/** When, by whom and where in the server's log something was written. */
export interface Version {
  /** Corrected by the server (clock/stamp.ts). */
  readonly stampUs: number;
  /** The author's site id, 32 hex digits. */
  readonly site: string;
  /** Place in the log of this database. */
  readonly watermark: number;
}

/** Of something whose version is no longer known: before everything. */
export const NO_VERSION: Version = { stampUs: 0, site: '0'.repeat(32), watermark: 0 };

/** The order that decides between concurrent writes: later stamp, then the larger site id. Never 0 for two sites. */
export function compareVersions(a: Version, b: Version): number {
  if (a.stampUs !== b.stampUs) return a.stampUs - b.stampUs;
  if (a.site !== b.site) return a.site < b.site ? -1 : 1;
  return a.watermark - b.watermark;
}

/** True when the author of a write at `base` had seen `stored`, or wrote it: then the new write simply follows it. */
export function hasSeen(base: number, site: string, stored: Version): boolean {
  return stored.watermark <= base || stored.site === site;
}
