import { expect, it } from 'vitest';
import { createSteadyClock } from './steady-clock.ts';

const YEAR_MS = 365 * 24 * 3600 * 1000;

it('the steady clock advances while the wall clock stands still or jumps back, and follows the wall clock when it jumps ahead', () => {
  const device = { wallMs: 1_700_000_000_000, elapsedMs: 50 };
  const steadyMs = createSteadyClock(
    () => device.wallMs,
    () => device.elapsedMs,
  );
  const after = (elapsedMs: number, wallMs: number): number => {
    device.elapsedMs += elapsedMs;
    device.wallMs += wallMs;
    return steadyMs() - 1_700_000_000_000;
  };
  expect(after(1_000, 1_000)).toBe(1_000);
  expect(after(1_000, 0)).toBe(2_000);
  expect(after(1_000, -1_000)).toBe(3_000);
  expect(after(0, -YEAR_MS)).toBe(3_000);
  expect(after(1_000, 1_000)).toBe(4_000);
  // The device slept for an hour, which only the wall clock shows.
  expect(after(5, 3_600_000)).toBe(3_604_000);
});
