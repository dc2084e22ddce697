/**
 * Trade-offs between memory, latency and write volume. The defaults suit an app's database of about 50 MB. Tests use
 * small values to reach rare paths with little data.
 */
export interface Tuning {
  /** Limit of the read cache. 32 MB holds the hot pages of most apps and is a tenth of what a phone allows a tab. */
  readonly poolSizeBytes: number;
  /** Length at which the active segment is sealed: about a thousand small transactions, and about 20 ms of copying. */
  readonly checkpointAfterBytes: number;
  /**
   * Limit of the log while a reader holds a snapshot, for example in a frozen tab. Beyond it the reader must read
   * again.
   */
  readonly logLimitBytes: number;
  /**
   * Approximate limit of one write; larger transactions take several. Beyond a megabyte, fewer calls save no more time.
   */
  readonly recordSizeBytes: number;
  /**
   * Page size of the log, a power of two from 512 to 65536. A small transaction logs only the pieces of this size that
   * it changed in SQLite's pages: about 5 KB for a row instead of 25 KB. Half this size would save another 2 KB, and
   * double the index of a large transaction.
   */
  readonly logPageBytes: number;
  /** How much a segment grows at a time. The default is its length when it is sealed. */
  readonly segmentGrowthBytes: number;
  /**
   * With `relaxed` durability, the longest time between a commit and its flush. Infinity leaves flushing to `flush()`.
   */
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
