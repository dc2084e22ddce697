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
  it('goes back step by step and forth again, by taking back what took back', async () => {
    const { history, undone, write } = createWorld();
    await write('a');
    await write('b');
    expect([await history.undo(), await history.undo(), await history.undo()]).toEqual([true, true, false]);
    expect([await history.redo(), await history.redo(), await history.redo()]).toEqual([true, true, false]);
    expect(await history.undo()).toBe(true);
    expect(undone).toEqual(['b', 'a', 'u2', 'u1', 'u4']);
  });

  it('cannot do again what was taken back before another write', async () => {
    const { history, write } = createWorld();
    await write('a');
    await history.undo();
    await write('b');
    expect(await history.redo()).toBe(false);
  });

  it('has no step for what failed, and passes over what changed nothing', async () => {
    const { history, undone, write } = createWorld({ b: 'nothing' });
    await write('a');
    await write('b');
    await expect(history.remember('c', Promise.reject(new Error('no')))).rejects.toThrow('no');
    await history.undo();
    expect(undone).toEqual(['a']);
  });

  it('has a step for what is kept although it failed, a write as well as what took it back', async () => {
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

  it('says why a step is refused, and goes on with the one before', async () => {
    const { history, undone, write } = createWorld({ b: 'changed' });
    await write('a');
    await write('b');
    await expect(history.undo()).rejects.toMatchObject({ code: 'undo-refused', fields: { problem: 'changed' } });
    await history.undo();
    expect(undone).toEqual(['a']);
  });

  it('takes one step after the other when several are asked for at once', async () => {
    const { history, undone, write } = createWorld();
    await write('a');
    await write('b');
    await Promise.all([history.undo(), history.undo(), history.redo()]);
    expect(undone).toEqual(['b', 'a', 'u2']);
  });
});
