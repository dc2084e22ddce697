import { RockpoolError, type ErrorCode } from '@rockpool/shared';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { WriteState } from '../rpc/write-state.ts';
import { SyncedWrites } from './synced-writes.ts';

/** A database whose outcomes the test sets. */
function decided(): {
  readonly synced: SyncedWrites;
  readonly asked: string[][];
  /** What the database answers. The status does not change. */
  readonly writeStates: Map<string, WriteState>;
  decide(id: string, writeState: WriteState): void;
  listeners: Set<() => void>;
} {
  const writeStates = new Map<string, WriteState>();
  const asked: string[][] = [];
  const listeners = new Set<() => void>();
  const synced = new SyncedWrites({
    requireServer: () => undefined,
    writeStates: async (ids) => {
      asked.push([...ids]);
      return ids.map((id) => writeStates.get(id) ?? { state: 'pending' });
    },
    status: {
      subscribe: (listener: (status: unknown) => void) => {
        const entry = (): void => listener(null);
        listeners.add(entry);
        return () => void listeners.delete(entry);
      },
    },
  });
  return {
    synced,
    asked,
    listeners,
    writeStates,
    decide(id, writeState) {
      writeStates.set(id, writeState);
      for (const listener of listeners) listener();
    },
  };
}

const refusal: WriteState = {
  state: 'rejected',
  error: { code: 'constraint-unique', fields: { table: 't' }, recovery: 'ask-user', message: '' },
};
const turns = async (): Promise<void> => {
  for (let turn = 0; turn < 20; turn++) await Promise.resolve();
};

afterEach(() => void vi.useRealTimers());

describe('the synced promise of a write', () => {
  it('requests nothing until it is read', async () => {
    const { synced, asked, listeners } = decided();
    await synced.beside('a', Promise.resolve(1));
    expect([asked, listeners.size]).toEqual([[], 0]);
  });

  it('resolves when admitted, rejects with the reason when rejected, and then stops listening', async () => {
    const { synced, decide, listeners } = decided();
    const [a, b] = ['a', 'b'].map((id) => synced.beside(id, Promise.resolve(id)));
    expect(await a).toBe('a');
    const outcomes = Promise.allSettled([a!.synced, b!.synced]);
    await turns();
    decide('a', { state: 'admitted' });
    await turns();
    decide('b', refusal);
    expect(await outcomes).toMatchObject([
      { status: 'fulfilled' },
      { status: 'rejected', reason: { code: 'constraint-unique', fields: { table: 't' } } },
    ]);
    expect(listeners.size).toBe(0);
    expect(a!.synced).toBe(a!.synced);
  });

  it('resolves for an unflushed write and rejects for any other failure', async () => {
    const { synced, decide } = decided();
    const writes = ['storage-unflushed', 'storage-full'].map((code) =>
      synced.beside(code, Promise.reject(new RockpoolError(code as ErrorCode))),
    );
    const outcomes = Promise.allSettled(writes.flatMap((write) => [write, write.synced]));
    await turns();
    decide('storage-unflushed', { state: 'admitted' });
    expect((await outcomes).map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'rejected', 'rejected']);
  });

  it('requests the state again if the status changes during a request', async () => {
    const { synced, decide, asked } = decided();
    const write = synced.beside('a', Promise.resolve());
    const promise = write.synced;
    await Promise.resolve();
    decide('a', { state: 'pending' });
    decide('a', { state: 'admitted' });
    await promise;
    expect(asked.length).toBeLessThanOrEqual(3);
  });

  it('resolves at once for more decided writes than one request names', async () => {
    vi.useFakeTimers();
    const { synced, writeStates, asked } = decided();
    const ids = Array.from({ length: 1_200 }, (_, number) => `write ${number}`);
    let resolved = 0;
    for (const id of ids) {
      writeStates.set(id, { state: 'admitted' });
      void synced.beside(id, Promise.resolve()).synced.then(() => resolved++);
    }
    await vi.advanceTimersByTimeAsync(0);
    expect([resolved, new Set(asked.flat()).size]).toEqual([ids.length, ids.length]);
    expect(Math.max(...asked.map(({ length }) => length))).toBe(500);
  });

  it('requests the state again after five seconds if no change of the status arrives', async () => {
    vi.useFakeTimers();
    const { synced, writeStates } = decided();
    const promise = synced.beside('a', Promise.resolve()).synced;
    await vi.advanceTimersByTimeAsync(4_000);
    writeStates.set('a', { state: 'admitted' });
    await vi.advanceTimersByTimeAsync(2_000);
    expect(await Promise.race([promise.then(() => 'synced'), Promise.resolve().then(() => 'waiting')])).toBe('synced');
  });

  it('requests the state again after a request that failed temporarily', async () => {
    vi.useFakeTimers();
    const answers = [
      () => Promise.reject(new RockpoolError('leader-unreachable')),
      (): Promise<WriteState[]> => Promise.resolve([{ state: 'admitted' }]),
    ];
    const synced = new SyncedWrites({
      requireServer: () => undefined,
      writeStates: async () => answers.shift()?.() ?? [],
      status: { subscribe: () => () => undefined },
    });
    const outcome = synced.beside('a', Promise.resolve()).synced.then(
      () => 'synced',
      ({ code }: RockpoolError) => code,
    );
    await vi.advanceTimersByTimeAsync(6_000);
    expect(await Promise.race([outcome, Promise.resolve().then(() => 'waiting')])).toBe('synced');
  });

  it.each<ErrorCode>(['tab-outdated', 'other-principal'])('rejects when the tab has ended with %s', async (code) => {
    const synced = new SyncedWrites({
      requireServer: () => undefined,
      writeStates: () => Promise.reject(new RockpoolError(code)),
      status: { subscribe: () => () => undefined },
    });
    const outcome = synced.beside('a', Promise.resolve()).synced.catch((error: unknown) => error);
    await turns();
    expect(await Promise.race([outcome, Promise.resolve('waiting')])).toMatchObject({ code });
  });

  it('rejects with the error of the write, and when the client closes', async () => {
    const { synced } = decided();
    await expect(synced.beside('a', Promise.reject(new RockpoolError('storage-full'))).synced).rejects.toMatchObject({
      code: 'storage-full',
    });
    const outcome = Promise.allSettled([synced.beside('b', Promise.resolve()).synced]);
    await turns();
    synced.end(new RockpoolError('client-closed'));
    expect(await outcome).toMatchObject([{ reason: { code: 'client-closed' } }]);
    await expect(synced.beside('c', Promise.resolve()).synced).rejects.toMatchObject({ code: 'client-closed' });
  });
});
