import { LATEST_STAMP_US } from './stamp.ts';

/*
 * Only the age of a changeset counts, not its stamp. While the device's clock runs evenly, the age is the difference
 * between two of its readings. If the clock was set in the meantime, that difference is wrong. The server's clock
 * reveals this: between two contacts A and B, the same time has passed on both sides.
 *
 *             A ────────── stamp ────────────── B        by the device
 *             A ─────────────────────────────── B        by the server
 *
 * If the two lengths differ, the clock was set in between. The age of a stamp from before that moment is right if it is
 * counted forward from A, and the age of a later stamp if it is counted back from B. Which case applies is unknown. The
 * earlier result counts, but never a time before A, so that setting a clock gains nothing.
 */
const US_PER_MS = 1000;

/**
 * How far the times that the two clocks measure between two contacts may differ before the clock counts as set. It is
 * this large because a network may be slow and a clock may drift for weeks.
 */
export const CLOCK_TOLERANCE_MS = 10_000;

/** One moment on two clocks: the device's local time (local-time.ts) and the server's clock. */
export interface ClockContact {
  readonly localUs: number;
  readonly serverMs: number;
}

/**
 * The age of a stamp in µs, 0 or more. `earlier`: the last contact with nothing pending, null for none. `latest`: the
 * contact of this connection, null to compute the age from the device's clock alone. A stamp that is ahead of its clock
 * counts as taken now.
 */
export function ageOfStampUs(
  stampUs: number,
  nowUs: number,
  earlier: ClockContact | null = null,
  latest: ClockContact | null = null,
): number {
  const byDeviceUs = Math.max(0, Math.floor(nowUs) - stampUs);
  if (earlier === null || latest === null || !wasClockSet(earlier, latest)) return byDeviceUs;
  const sinceEarlierUs = Math.max(
    0,
    (latest.serverMs - earlier.serverMs) * US_PER_MS + Math.floor(nowUs) - latest.localUs,
  );
  const fromEarlierUs = Math.max(0, sinceEarlierUs - (stampUs - earlier.localUs));
  if (stampUs < earlier.localUs) return fromEarlierUs;
  // If neither clock can be trusted, a stamp determines only its position in the order.
  return stampUs >= LATEST_STAMP_US ? sinceEarlierUs : Math.min(Math.max(byDeviceUs, fromEarlierUs), sinceEarlierUs);
}

/** Whether the clock of the device was set between two contacts. */
export function wasClockSet(earlier: ClockContact, latest: ClockContact): boolean {
  const hereMs = (latest.localUs - earlier.localUs) / US_PER_MS;
  return Math.abs(hereMs - (latest.serverMs - earlier.serverMs)) > CLOCK_TOLERANCE_MS;
}
