/**
 * Numbers that trade memory, latency and write volume; the defaults fit an app's database of some 50 MB. Tests make
 * them small to reach rare paths with little data.
 */
export interface Tuning {
  /** Bound of the read cache. 32 MB holds most apps' hot pages and is a tenth of what a phone gives a tab. */
  readonly poolSizeBytes: number;
  /**
   * The active segment is sealed when it is this long: about a thousand small transactions, and some 20 ms of copying.
   */
  readonly checkpointAfterBytes: number;
  /**
   * A reader that pins the log beyond this length is told to read again: bounds the log while a frozen tab holds a
   * snapshot.
   */
  readonly logLimitBytes: number;
  /**
   * One write takes at most about this much; larger transactions take several. A megabyte is where calls stop
   * mattering.
   */
  readonly recordSizeBytes: number;
  /**
   * What the log counts in, a power of two from 512 to 65536: of SQLite's pages, a small transaction logs only the
   * pieces of this size that it changed. A row is then some 5 KB instead of 25; half of it would save another 2 KB and
   * double what the index of a large transaction takes.
   */
  readonly logPageBytes: number;
  /** Segments grow by this much at once: as much as they need before they are sealed. */
  readonly segmentGrowthBytes: number;
  /** With `relaxed` durability, the longest time between a commit and its flush; Infinity leaves it to `flush()`. */
  readonly flushWithinMs: number;
}

export const DEFAULT_TUNING: Tuning = {
  poolSizeBytes: 32 * 1024 * 1024,
  checkpointAfterBytes: 4 * 1024 * 1024,
  logLimitBytes: 64 * 1024 * 1024,
  recordSizeBytes: 1024 * 1024,
  logPageBytes: 1024,
  segmentGrowthBytes: 4 * 1024 * 1024,
  flushWithinMs: 1000,
};
