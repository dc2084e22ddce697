import { LATEST_STAMP_US } from './stamp.ts';

/*
 * How long ago a changeset was written is all that counts of its stamp. While the device's clock runs evenly, that is a
 * subtraction. It is not where the clock was set while nobody looked. The server's clock tells: between two contacts, A
 * and B, as much time has passed here as there.
 *
 *            A ────────── stamp ────────────── B        by the device
 *            A ─────────────────────────────── B        by the server
 *
 * Where the two lengths differ, the clock was set somewhere between. A stamp before that is right counted from A, one
 * after it is right counted back from B, and nobody knows which it is. The earlier of the two counts, and never earlier
 * than A: whoever sets a clock gains nothing.
 */
const US_PER_MS = 1000;

/**
 * What two contacts may differ by without anybody having set a clock: a slow network, and a clock that runs badly for
 * weeks.
 */
export const CLOCK_TOLERANCE_MS = 10_000;

/** One moment, by the device's local time (local-time.ts) and by the server's clock. */
export interface ClockContact {
  readonly localUs: number;
  readonly serverMs: number;
}

/**
 * How long ago a stamp was made, in µs: 0 or more. `earlier`: the last contact at which nothing was pending; null where
 * there was none. `latest`: the contact of this connection; null for a stamp's age by the device alone. A stamp that is
 * ahead of its clock counts as made now.
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
  // Where no clock is believed any more, a stamp says nothing but its place in the order.
  return stampUs >= LATEST_STAMP_US ? sinceEarlierUs : Math.min(Math.max(byDeviceUs, fromEarlierUs), sinceEarlierUs);
}

/** Whether the device's clock was set between two contacts. */
export function wasClockSet(earlier: ClockContact, latest: ClockContact): boolean {
  const hereMs = (latest.localUs - earlier.localUs) / US_PER_MS;
  return Math.abs(hereMs - (latest.serverMs - earlier.serverMs)) > CLOCK_TOLERANCE_MS;
}
