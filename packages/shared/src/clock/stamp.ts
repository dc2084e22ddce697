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
  /** The client's own stamp of the changeset. */
  readonly stampUs: number;
  /** The client's clock when it sent the push. */
  readonly clientNowMs: number;
  /** The server's clock when it received the push. */
  readonly receivedMs: number;
  /** The highest corrected stamp of this site so far (0: none). */
  readonly lastOfSiteUs: number;
  /** The highest corrected stamp in the log up to the changeset's base: what the author had seen (0: nothing). */
  readonly seenUs: number;
}

/**
 * Corrects a stamp by its age, so that a client's clock setting decides nothing: only how long ago it wrote counts.
 * Never later than it was received, never before what its author had seen or had written earlier.
 * A clock that jumped between writing and sending gives a wrong age; the bounds keep even that harmless.
 */
export function correctStampUs(correction: StampCorrection): number {
  const { stampUs, clientNowMs, receivedMs, lastOfSiteUs, seenUs } = correction;
  const ageUs = Math.max(0, clientNowMs * US_PER_MS - stampUs);
  const writtenUs = Math.max(0, receivedMs * US_PER_MS - ageUs);
  return Math.max(writtenUs, lastOfSiteUs + 1, seenUs + 1);
}

export function stampToMs(stampUs: number): number {
  return Math.floor(stampUs / US_PER_MS);
}
