import { createSteadyClock } from './steady-clock.ts';
import { LATEST_STAMP_US } from './stamp.ts';

const US_PER_MS = 1000;

/** Where local time has been. */
export interface LastStamp {
  /** It was there. */
  readonly stampUs: number;
  /** What the wall clock showed at the last changeset, minus its stamp, in µs. */
  readonly shiftUs: number;
}

/** The time that stamps are made by, in µs. */
export interface LocalTime {
  nowUs(): number;
  /** What to add to a stamp of now to have what the wall clock shows. */
  shiftUs(stampUs: number): number;
}

/**
 * Local time begins as the wall clock and never goes back, also from one start of the app to the next: once the wall
 * clock was set back, local time stays ahead of it by as much. While the app runs it goes on evenly, whatever is done
 * to the wall clock, but that a wall clock that jumps forward is believed, since a device that slept looks the same.
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

/** A wall clock may show anything; what cannot be counted with is taken for the nearest that can. */
function wallUs(wallMs: number): number {
  return Math.floor(Math.min(Math.max(0, wallMs * US_PER_MS), LATEST_STAMP_US));
}
