import { expect, it, onTestFinished, vi } from 'vitest';
import { InProcessLocks } from './in-process-locks.ts';

it('a request that gives up lets the requests behind it continue', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const locks = new InProcessLocks();
  const granted: string[] = [];
  const request = (name: string, mode: 'shared' | 'exclusive', timeoutMs: number): void => {
    void locks
      .owner()
      .request('lock', mode, timeoutMs)
      .then((release) => granted.push(release === undefined ? `${name} gave up` : name));
  };
  request('reader', 'shared', 0);
  request('writer', 'exclusive', 100);
  request('later reader', 'shared', 1_000);
  await vi.advanceTimersByTimeAsync(99);
  expect(granted).toEqual(['reader']);
  await vi.advanceTimersByTimeAsync(1);
  expect(granted.slice(1).sort()).toEqual(['later reader', 'writer gave up']);
});
