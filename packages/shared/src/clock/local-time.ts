import { createSteadyClock } from './steady-clock.ts';
import { LATEST_STAMP_US } from './stamp.ts';

const US_PER_MS = 1000;

/** The last stamp of local time. */
export interface LastStamp {
  readonly stampUs: number;
  /** The wall clock at the last changeset minus its stamp, in µs. */
  readonly shiftUs: number;
}

/** The clock that stamps are taken from, in µs. */
export interface LocalTime {
  nowUs(): number;
  /** How far the wall clock is ahead of `stampUs`, a stamp that was just taken. Negative if it is behind. */
  shiftUs(stampUs: number): number;
}

/**
 * Local time starts at the wall clock and never goes back, not even between two starts of the app: after the wall clock
 * was set back, local time stays ahead by that much. While the app runs, local time advances evenly whatever happens to
 * the wall clock, with one exception: it follows a forward jump, because a device that slept looks the same.
 */
export function createLocalTime(last: LastStamp, wallMs: () => number, elapsedMs: () => number): LocalTime {
  const startUs = wallUs(wallMs());
  const beginUs = Math.max(startUs - last.shiftUs, last.stampUs, startUs);
  const steadyMs = createSteadyClock(wallMs, elapsedMs);
  const steadyStartMs = steadyMs();
  return {
    nowUs: () => Math.min(beginUs + (steadyMs() - steadyStartMs) * US_PER_MS, Math.max(LATEST_STAMP_US, beginUs)),
    shiftUs: (stampUs) => wallUs(wallMs()) - stampUs,
  };
}

/** Clamps the time of a wall clock, which may be set to any time, to the range of stamps. */
function wallUs(wallMs: number): number {
  return Math.floor(Math.min(Math.max(0, wallMs * US_PER_MS), LATEST_STAMP_US));
}
