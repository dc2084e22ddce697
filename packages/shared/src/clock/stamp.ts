/*
 * A stamp says when a changeset was written, in whole microseconds since 1970. Wall clocks give milliseconds;
 * the last three digits count changesets within one millisecond and carry over when there are more than a thousand,
 * so that nothing overflows. 2^53 µs reach to the year 2255.
 */
const US_PER_MS = 1000;

/** The next stamp of a site: its wall clock, or one more than its last stamp when the clock stands still or went back. */
export function nextLocalStampUs(nowMs: number, lastStampUs: number): number {
  return Math.max(Math.floor(nowMs) * US_PER_MS, lastStampUs + 1);
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
 * The time of writing by the server's clock, so that a client's clock setting decides nothing: only how long ago it wrote counts.
 * Never later than it was received, never before what its author had seen or had written earlier.
 */
export function correctStampUs(correction: StampCorrection): number {
  const { ageUs, receivedMs, lastOfSiteUs, seenUs } = correction;
  const writtenUs = Math.max(0, receivedMs * US_PER_MS - ageUs);
  return Math.max(writtenUs, lastOfSiteUs + 1, seenUs + 1);
}

/** How long ago a stamp was made, by the clock that made it. A stamp that is ahead of its clock counts as made now. */
export function ageOfStampUs(stampUs: number, nowMs: number): number {
  return Math.max(0, Math.floor(nowMs * US_PER_MS) - stampUs);
}

export function stampToMs(stampUs: number): number {
  return Math.floor(stampUs / US_PER_MS);
}
