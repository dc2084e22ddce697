import type { Delivery } from '@rockpool/shared';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { testDelivery } from '../../../testing/worker/sync-steps.ts';
import { WaitingDeliveries } from './waiting-deliveries.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

function started(applyMs = 0): {
  readonly waiting: WaitingDeliveries;
  readonly ready: number[][];
  readonly queued: (() => void)[];
  busy: boolean;
} {
  const ready: number[][] = [];
  const queued: (() => void)[] = [];
  const test = {
    waiting: new WaitingDeliveries({
      nowMs: () => performance.now(),
      inTurn: (job) => (test.busy ? void queued.push(job) : job()),
      onReady: (deliveries) => {
        ready.push(deliveries.map(({ to }) => to));
        vi.advanceTimersByTime(applyMs);
      },
    }),
    ready,
    queued,
    busy: false,
  };
  return test;
}

const rows = (to: number, rowCount: number): Delivery =>
  testDelivery({
    to,
    groups: [{ tableId: 1, kind: 'delete', rowCount, keys: [], columnIds: [], values: [] }],
  });

it('deliveries that arrive one at a time do not wait', () => {
  const { waiting, ready } = started(20);
  for (const to of [1, 2, 3]) {
    waiting.take(rows(to, 1));
    vi.advanceTimersByTime(1);
  }
  expect(ready).toEqual([[1], [2], [3]]);
});

it('deliveries that arrived while one was applied are passed on together', () => {
  const { waiting, ready } = started(20);
  for (const to of [1, 2, 3, 4]) waiting.take(rows(to, 1));
  expect(ready).toEqual([[1]]);
  vi.advanceTimersByTime(1);
  expect(ready).toEqual([[1], [2, 3, 4]]);
});

it('waiting deliveries are passed on at once when they have many rows', () => {
  const { waiting, ready } = started();
  waiting.take(rows(1, 1));
  waiting.take(rows(2, 900));
  expect(ready).toEqual([[1]]);
  waiting.take(rows(3, 101));
  expect(ready).toEqual([[1], [2, 3]]);
  vi.advanceTimersByTime(1);
  expect(ready).toEqual([[1], [2, 3]]);
});

it('waiting deliveries wait for the end of an open transaction', () => {
  const test = started();
  test.waiting.take(rows(1, 1));
  test.waiting.take(rows(2, 1));
  test.busy = true;
  vi.advanceTimersByTime(1);
  expect(test.ready).toEqual([[1]]);
  for (const job of test.queued) job();
  expect(test.ready).toEqual([[1], [2]]);
});
