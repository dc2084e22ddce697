/*
 * A stamp says when a changeset was written, in whole microseconds since 1970. Wall clocks give milliseconds;
 * the last three digits count changesets within one millisecond and carry over when there are more than a thousand,
 * so that nothing overflows. 2^53 µs reach to the year 2255.
 */
const US_PER_MS = 1000;

/**
 * The first of January 2200. No clock is believed beyond it, which leaves room for more stamps than will ever be made.
 */
export const LATEST_STAMP_US = 7_258_118_400_000_000;

/** The next stamp of a site: its local time, or one more than its last stamp where that stands still or is behind. */
export function nextLocalStampUs(localUs: number, lastStampUs: number): number {
  return Math.max(Math.floor(Math.min(localUs, LATEST_STAMP_US)), lastStampUs + 1);
}

export interface StampCorrection {
  /** How long ago it was written when the client sent it. */
  readonly ageUs: number;
  /** The server's clock when it received the push. */
  readonly receivedMs: number;
  /** The highest corrected stamp of this site so far (0: none). */
  readonly lastOfSiteUs: number;
  /** The highest corrected stamp in the log up to the changeset's base: what the author had seen (0: nothing). */
  readonly seenUs: number;
}

/**
 * The time of writing by the server's clock, so that a client's clock setting decides nothing: only how long ago it
 * wrote counts. Never later than it was received, never before what its author had seen or had written earlier.
 */
export function correctStampUs(correction: StampCorrection): number {
  const { ageUs, receivedMs, lastOfSiteUs, seenUs } = correction;
  const writtenUs = Math.max(0, receivedMs * US_PER_MS - ageUs);
  return Math.max(writtenUs, lastOfSiteUs + 1, seenUs + 1);
}

export function stampToMs(stampUs: number): number {
  return Math.floor(stampUs / US_PER_MS);
}
