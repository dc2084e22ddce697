/*
 * A stamp is the time of a changeset, in whole microseconds since 1970. Wall clocks give milliseconds; the last three
 * digits count changesets within one millisecond and carry over beyond a thousand, so nothing overflows. 2^53 µs reach
 * to the year 2255.
 */
const US_PER_MS = 1000;

/** January 1, 2200. No clock is trusted beyond this, which leaves room for more stamps than can ever occur. */
export const LATEST_STAMP_US = 7_258_118_400_000_000;

/** The next stamp of a site: its local time, or one more than its last stamp if local time has not passed it. */
export function nextLocalStampUs(localUs: number, lastStampUs: number): number {
  return Math.max(Math.floor(Math.min(localUs, LATEST_STAMP_US)), lastStampUs + 1);
}

export interface StampCorrection {
  /** Age of the changeset when the client sent it. */
  readonly ageUs: number;
  /** The server's clock when it received the push. */
  readonly receivedMs: number;
  /** The highest corrected stamp of this site so far; 0 if there is none. */
  readonly lastOfSiteUs: number;
  /**
   * The highest corrected stamp in the log up to the base of the changeset, which the author had seen; 0 if it had seen
   * nothing.
   */
  readonly seenUs: number;
}

/**
 * The time of writing by the server's clock. Only the age counts, so how a client's clock is set does not matter. The
 * time is never later than the receipt, and never before what the author had seen or written earlier.
 */
export function correctStampUs(correction: StampCorrection): number {
  const { ageUs, receivedMs, lastOfSiteUs, seenUs } = correction;
  const writtenUs = Math.max(0, receivedMs * US_PER_MS - ageUs);
  return Math.max(writtenUs, lastOfSiteUs + 1, seenUs + 1);
}

export function stampToMs(stampUs: number): number {
  return Math.floor(stampUs / US_PER_MS);
}
