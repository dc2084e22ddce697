import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { deadlineOf } from './deadline.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe('the deadline of a request', () => {
  it('aborts it after its time, which can begin again', () => {
    const { signal, renew } = deadlineOf(100, new AbortController().signal);
    vi.advanceTimersByTime(99);
    renew(50);
    vi.advanceTimersByTime(49);
    expect(signal.aborted).toBe(false);
    vi.advanceTimersByTime(1);
    expect(signal.aborted).toBe(true);
  });

  it('aborts it when the client closes, or has closed', () => {
    const closed = new AbortController();
    const open = deadlineOf(100, closed.signal);
    closed.abort();
    expect([open.signal.aborted, deadlineOf(100, closed.signal).signal.aborted]).toEqual([true, true]);
  });

  it('leaves neither a timer nor a listener once it is cleared', () => {
    const closed = new AbortController();
    const { signal, clear } = deadlineOf(100, closed.signal);
    clear();
    closed.abort();
    expect([vi.getTimerCount(), signal.aborted]).toEqual([0, false]);
  });
});
