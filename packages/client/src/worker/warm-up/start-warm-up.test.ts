import { afterEach, expect, test, vi } from 'vitest';
import { testRuntime } from '../../../testing/worker/test-database.ts';
import type { Clock } from '../leader/clock.ts';
import { rehearseWrites } from './rehearse-writes.ts';
import { REHEARSED_CODE, startWarmUp } from './start-warm-up.ts';

// The first call of a function replaces it in the module, so this call must precede the spies.
const STEPS = [...rehearseWrites(testRuntime, REHEARSED_CODE)].length;
const opened = vi.spyOn(testRuntime.module, '_sqlite3_open_v2');
const closed = vi.spyOn(testRuntime.module, '_sqlite3_close_v2');
afterEach(() => vi.clearAllMocks());

/** A clock that runs one timer at a time. */
class ManualClock implements Clock {
  private timers: (() => void)[] = [];

  get pending(): number {
    return this.timers.length;
  }

  nowMs(): number {
    return 0;
  }

  elapsedMs(): number {
    return 0;
  }

  after(_delayMs: number, callback: () => void): () => void {
    this.timers.push(callback);
    return () => void (this.timers = this.timers.filter((timer) => timer !== callback));
  }

  runNext(): void {
    this.timers.shift()?.();
  }
}

async function untilRehearsing(clock: ManualClock): Promise<void> {
  clock.runNext();
  await expect.poll(() => opened).toHaveBeenCalled();
}

test('the warm-up rehearses a write, a push and a delivery in each round, on a database in memory that it closes', () => {
  expect(STEPS).toBeGreaterThan(8);
  expect([...rehearseWrites(testRuntime, REHEARSED_CODE)]).toHaveLength(STEPS);
  expect(opened).toHaveBeenCalledTimes(1);
  expect(closed).toHaveBeenCalledTimes(1);
});

test('the warm-up runs one step in each task and stops after the last', async () => {
  const clock = new ManualClock();
  startWarmUp(testRuntime, clock);
  await untilRehearsing(clock);
  let tasks = 1;
  for (; clock.pending > 0; tasks++) clock.runNext();
  expect(tasks).toBe(STEPS + 1);
  expect(closed).toHaveBeenCalledTimes(1);
});

test('the warm-up ends at the first write of a tab', async () => {
  const clock = new ManualClock();
  const work = startWarmUp(testRuntime, clock);
  await untilRehearsing(clock);
  clock.runNext();
  work.onLocalCommit();
  expect(closed).toHaveBeenCalledTimes(1);
  expect(clock.pending).toBe(0);
});

test('the warm-up does not begin after a write or after the leader has stepped down', async () => {
  const clock = new ManualClock();
  startWarmUp(testRuntime, clock).onLocalCommit();
  await startWarmUp(testRuntime, clock).stop();
  expect(clock.pending).toBe(0);
  expect(opened).not.toHaveBeenCalled();
});

test('the warm-up closes its database when the leader steps down between two steps', async () => {
  const clock = new ManualClock();
  const work = startWarmUp(testRuntime, clock);
  await untilRehearsing(clock);
  await work.stop();
  expect(closed).toHaveBeenCalledTimes(1);
});
