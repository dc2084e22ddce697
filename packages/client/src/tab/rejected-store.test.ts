import { RockpoolError } from '@rockpool/shared';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Subscribable } from '../interface/subscribable.ts';
import type { RejectedChangeset } from '../rpc/rejected-changeset.ts';
import { INITIAL_STATUS, type SyncStatus } from '../rpc/sync-status.ts';
import { createRejectedStore } from './rejected-store.ts';
import { createStatusStore, type StatusStore } from './status-store.ts';

const rejected = (sequence: number, decided = true): RejectedChangeset => ({
  sequence,
  decided,
  reason: new RockpoolError('atomic-conflict').toData(),
  writtenMs: 1,
  rejectedMs: 2,
  atomic: true,
  changes: [{ table: 'note', kind: 'insert', key: [1n], values: [{ column: 'id', after: 1n }] }],
});

function createWorld(): {
  store: Subscribable<readonly RejectedChangeset[]>;
  status: StatusStore;
  reads: () => number;
  problems: string[];
  /** Changes what a read returns, and sends a status: by default, one that differs from the last one. */
  answer: (next: () => readonly RejectedChangeset[], rejectedCount?: number, update?: SyncStatus) => Promise<void>;
} {
  const status = createStatusStore({ ...INITIAL_STATUS, role: 'leader' } as SyncStatus);
  const problems: string[] = [];
  let reads = 0;
  let pendingCount = 0;
  let list = (): readonly RejectedChangeset[] => [];
  const store = createRejectedStore({
    list: async () => {
      reads++;
      return list();
    },
    status,
    onProblem: ({ code }) => problems.push(code),
  });
  return {
    store,
    status,
    reads: () => reads,
    problems,
    answer: async (next, rejectedCount = 0, update) => {
      list = next;
      status.set(update ?? { ...status.current, pendingCount: ++pendingCount, rejectedCount });
      await new Promise((resolve) => setTimeout(resolve));
    },
  };
}

afterEach(() => void vi.useRealTimers());

describe('client.rejected as a store', () => {
  it('reads nothing without a listener while there are no rejected changesets', async () => {
    const { store, reads, answer } = createWorld();
    await answer(() => []);
    expect(reads()).toBe(0);
    store.subscribe(() => undefined)();
    await answer(() => []);
    await answer(() => []);
    expect(reads()).toBe(1);
  });

  it('has the list without a listener, and reads it again when the number of rejected changesets changes', async () => {
    const { store, reads, answer } = createWorld();
    await answer(() => [rejected(1)], 1);
    expect(store.current).toEqual([rejected(1)]);
    await answer(() => [rejected(1), rejected(2)], 2);
    expect(store.current).toHaveLength(2);
    expect(reads()).toBe(2);
    await answer(() => [], 0);
    expect(store.current).toEqual([]);
  });

  it('reads a changed list of the same length again once it is observed', async () => {
    const { store, reads, answer } = createWorld();
    await answer(() => [rejected(1, false)], 1);
    await answer(() => [rejected(1)], 1);
    expect(reads()).toBe(1);
    expect(store.current).toEqual([rejected(1, false)]);
    await answer(() => [rejected(1)], 1);
    expect([reads(), store.current]).toEqual([2, [rejected(1)]]);
  });

  it('reads the list again after an update with the same status, because one of as many may be another', async () => {
    const { store, status, answer } = createWorld();
    store.subscribe(() => undefined);
    await answer(() => [rejected(1)], 1);
    const { current } = status;
    await answer(() => [rejected(2)], 1, { ...current });
    expect(store.current).toEqual([rejected(2)]);
    expect(status.current).toBe(current);
  });

  it('keeps the same object until the list changes', async () => {
    const { store, answer } = createWorld();
    const heard: (readonly number[])[] = [];
    store.subscribe((list) => heard.push(list.map(({ sequence }) => sequence)));
    await answer(() => [rejected(1)]);
    const { current } = store;
    await answer(() => [rejected(1)]);
    expect(store.current).toBe(current);
    await answer(() => [rejected(1, false)]);
    expect(store.current).not.toBe(current);
    await answer(() => []);
    expect(heard).toEqual([[], [1], [1], []]);
  });

  it('keeps the newer list if an earlier read is answered later', async () => {
    const status = createStatusStore({ ...INITIAL_STATUS, role: 'leader' } as SyncStatus);
    const answers: ((list: readonly RejectedChangeset[]) => void)[] = [];
    const store = createRejectedStore({
      list: () => new Promise((resolve) => answers.push(resolve)),
      status,
      onProblem: ({ code }) => expect.unreachable(code),
    });
    for (const rejectedCount of [1, 2]) status.set({ ...status.current, rejectedCount });
    answers[1]?.([rejected(1), rejected(2)]);
    answers[0]?.([rejected(1)]);
    await new Promise((resolve) => setTimeout(resolve));
    expect(store.current).toHaveLength(2);
  });

  it('passes the list to a second listener at once', async () => {
    const { store, answer } = createWorld();
    store.subscribe(() => undefined);
    await answer(() => [rejected(3)]);
    let heard: readonly RejectedChangeset[] | null = null;
    store.subscribe((list) => (heard = list));
    expect(heard).toBe(store.current);
  });

  it('reports a failed read and reads again after the next change of the status', async () => {
    const { store, problems, answer } = createWorld();
    store.subscribe(() => undefined);
    await answer(() => {
      throw new RockpoolError('storage-lost');
    });
    await answer(() => [rejected(2)]);
    expect(problems).toEqual(['storage-lost']);
    expect(store.current).toHaveLength(1);
  });

  it('reads again after a temporary failure, even if the status does not change', async () => {
    vi.useFakeTimers();
    const { store, reads, problems, answer } = createWorld();
    let isReachable = false;
    const answered = answer(() => {
      if (!isReachable) throw new RockpoolError('leader-unreachable');
      return [rejected(1)];
    }, 1);
    await vi.advanceTimersByTimeAsync(1);
    await answered;
    expect([store.current, problems]).toEqual([[], ['leader-unreachable']]);
    isReachable = true;
    await vi.advanceTimersByTimeAsync(5_000);
    expect([store.current, problems]).toEqual([[rejected(1)], ['leader-unreachable']]);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(reads()).toBe(2);
  });
});
