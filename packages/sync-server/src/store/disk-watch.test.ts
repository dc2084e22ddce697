import { expect, it, vi } from 'vitest';
import { DiskWatch } from './disk-watch.ts';

it('the disk watch reports unavailable, within a deadline, while the store does not respond', async () => {
  vi.useFakeTimers();
  const watch = new DiskWatch({ readiness: () => new Promise(() => undefined) });
  const asked = watch.readiness();
  await vi.advanceTimersByTimeAsync(3_000);
  expect(await asked).toBe('unavailable');
  expect([watch.isDiskFull, watch.isReady]).toEqual([false, false]);
  watch.close();
  vi.useRealTimers();
});

it('the disk watch notices by itself when the disk is full and when it has space again', async () => {
  vi.useFakeTimers();
  let readiness: 'disk-full' | 'ready' = 'disk-full';
  const watch = new DiskWatch({ readiness: () => Promise.resolve(readiness) });
  await vi.advanceTimersByTimeAsync(2_000);
  expect([watch.isDiskFull, watch.isReady]).toEqual([true, false]);
  readiness = 'ready';
  await vi.advanceTimersByTimeAsync(2_000);
  expect([watch.isDiskFull, watch.isReady]).toEqual([false, true]);
  watch.close();
  vi.useRealTimers();
});

it('the disk watch gives 4 MiB to changesets before a delete while the disk is full, and again when it has had space', async () => {
  vi.useFakeTimers();
  const MIB = 1024 * 1024;
  let readiness: 'disk-full' | 'ready' = 'disk-full';
  const watch = new DiskWatch({ readiness: () => Promise.resolve(readiness) });
  await vi.advanceTimersByTimeAsync(2_000);
  expect([3 * MIB, MIB + 1, MIB, 1].map((bytes) => watch.takeReserve(bytes))).toEqual([true, false, true, false]);
  await vi.advanceTimersByTimeAsync(2_000);
  expect(watch.takeReserve(1)).toBe(false);
  readiness = 'ready';
  await vi.advanceTimersByTimeAsync(2_000);
  readiness = 'disk-full';
  await vi.advanceTimersByTimeAsync(2_000);
  expect(watch.takeReserve(4 * MIB)).toBe(true);
  watch.close();
  vi.useRealTimers();
});

it('the disk watch asks the store once for all callers that wait', async () => {
  const readiness = vi.fn(() => Promise.resolve('ready' as const));
  const watch = new DiskWatch({ readiness });
  expect(await Promise.all([watch.readiness(), watch.readiness()])).toEqual(['ready', 'ready']);
  expect(readiness).toHaveBeenCalledOnce();
  await watch.readiness();
  expect(readiness).toHaveBeenCalledTimes(2);
  watch.close();
});
