import { RockpoolError } from '@rockpool/shared';
import { describe, expect, it } from 'vitest';
import { UndoHistory } from './undo-history.ts';

function createWorld(refusals: Readonly<Record<string, string>> = {}): {
  readonly history: UndoHistory;
  readonly undone: string[];
  readonly write: (id: string) => Promise<unknown>;
} {
  const undone: string[] = [];
  let lastId = 0;
  const history = new UndoHistory({
    newId: () => `u${++lastId}`,
    undo: async (requestId) => {
      const problem = refusals[requestId];
      if (problem !== undefined) throw new RockpoolError('undo-refused', { problem });
      undone.push(requestId);
    },
  });
  return { history, undone, write: (id) => history.remember(id, Promise.resolve()) };
}

describe('the history of a tab', () => {
  it('undoes step by step, and redoes by undoing the undo', async () => {
    const { history, undone, write } = createWorld();
    await write('a');
    await write('b');
    expect([await history.undo(), await history.undo(), await history.undo()]).toEqual([true, true, false]);
    expect([await history.redo(), await history.redo(), await history.redo()]).toEqual([true, true, false]);
    expect(await history.undo()).toBe(true);
    expect(undone).toEqual(['b', 'a', 'u2', 'u1', 'u4']);
  });

  it('clears the redo steps on a new write', async () => {
    const { history, write } = createWorld();
    await write('a');
    await history.undo();
    await write('b');
    expect(await history.redo()).toBe(false);
  });

  it('skips writes that failed or changed nothing', async () => {
    const { history, undone, write } = createWorld({ b: 'nothing' });
    await write('a');
    await write('b');
    await expect(history.remember('c', Promise.reject(new Error('no')))).rejects.toThrow('no');
    await history.undo();
    expect(undone).toEqual(['a']);
  });

  it('keeps a step for an unflushed write and an unflushed undo', async () => {
    const unflushed = new RockpoolError('storage-unflushed');
    const taken: string[] = [];
    const history = new UndoHistory({
      newId: () => 'u1',
      undo: async (requestId) => {
        taken.push(requestId);
        throw unflushed;
      },
    });
    await expect(history.remember('a', Promise.reject(unflushed))).rejects.toBe(unflushed);
    await expect(history.undo()).rejects.toBe(unflushed);
    await expect(history.redo()).rejects.toBe(unflushed);
    expect(taken).toEqual(['a', 'u1']);
  });

  it('rejects a refused step with its reason and continues with the step before it', async () => {
    const { history, undone, write } = createWorld({ b: 'changed' });
    await write('a');
    await write('b');
    await expect(history.undo()).rejects.toMatchObject({ code: 'undo-refused', fields: { problem: 'changed' } });
    await history.undo();
    expect(undone).toEqual(['a']);
  });

  const reasons = [
    { error: new RockpoolError('storage-full'), sameId: false },
    {
      error: new RockpoolError('leader-unreachable', { problem: 'the leader was elected too late' }),
      sameId: false,
    },
    { error: new RockpoolError('leader-unreachable', { waitedMs: 10_000, timesAsked: 5 }), sameId: true },
    { error: new RockpoolError('worker-stuck'), sameId: true },
  ];
  it.each(reasons)('retries a step that failed with $error.message, sameId: $sameId', async ({ error, sameId }) => {
    const tried: string[][] = [];
    let lastId = 0;
    let failsWith: RockpoolError | null = error;
    const history = new UndoHistory({
      newId: () => `u${++lastId}`,
      undo: async (...ids) => {
        tried.push(ids);
        if (failsWith !== null) throw failsWith;
      },
    });
    await history.remember('older', Promise.resolve());
    await history.remember('a', Promise.resolve());
    await expect(history.undo()).rejects.toBe(error);
    failsWith = null;
    expect(await history.undo()).toBe(true);
    failsWith = error;
    await expect(history.redo()).rejects.toBe(error);
    failsWith = null;
    expect(await history.redo()).toBe(true);
    const [undo, redo] = sameId ? ['u1', 'u2'] : ['u2', 'u4'];
    expect(tried).toEqual([
      ['a', 'u1'],
      ['a', undo],
      [undo, sameId ? 'u2' : 'u3'],
      [undo, redo],
    ]);
  });

  it('keeps the id of an undo with an unknown outcome while its repetitions fail temporarily', async () => {
    const tried: string[][] = [];
    let lastId = 0;
    const failures = [new RockpoolError('worker-stuck'), new RockpoolError('leader-unreachable')];
    const history = new UndoHistory({
      newId: () => `u${++lastId}`,
      undo: async (...ids) => {
        tried.push(ids);
        const failure = failures.shift();
        if (failure !== undefined) throw failure;
      },
    });
    await history.remember('a', Promise.resolve());
    await expect(history.undo()).rejects.toMatchObject({ code: 'worker-stuck' });
    await expect(history.undo()).rejects.toMatchObject({ code: 'leader-unreachable' });
    expect(await history.undo()).toBe(true);
    expect(tried).toEqual(Array(3).fill(['a', 'u1']));
  });

  it('keeps a newer write above a step that failed while it was written', async () => {
    const tried: string[] = [];
    let write: (() => Promise<unknown>) | null = null;
    const history = new UndoHistory({
      newId: () => 'u',
      undo: async (requestId) => {
        tried.push(requestId);
        if (write === null) return;
        await write();
        throw new RockpoolError('storage-full');
      },
    });
    await history.remember('a', Promise.resolve());
    write = () => history.remember('b', Promise.resolve());
    await expect(history.undo()).rejects.toThrow();
    write = null;
    await history.undo();
    await history.undo();
    expect(tried).toEqual(['a', 'b', 'a']);
  });

  it('keeps a newer write as a step if it was written during an undo', async () => {
    const tried: string[] = [];
    let write: (() => Promise<unknown>) | null = null;
    const history = new UndoHistory({
      newId: () => 'u',
      undo: async (requestId) => {
        tried.push(requestId);
        await write?.();
        write = null;
      },
    });
    await history.remember('a', Promise.resolve());
    write = () => history.remember('b', Promise.resolve());
    expect([await history.undo(), await history.undo(), await history.undo()]).toEqual([true, true, false]);
    expect(tried).toEqual(['a', 'b']);
  });

  it('runs concurrent steps one after the other', async () => {
    const { history, undone, write } = createWorld();
    await write('a');
    await write('b');
    await Promise.all([history.undo(), history.undo(), history.redo()]);
    expect(undone).toEqual(['b', 'a', 'u2']);
  });
});
