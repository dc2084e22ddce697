import { createClient, type Client } from '@rockpool/client';
import type { ReactElement } from 'react';
import { flushSync } from 'react-dom';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { addCategory, renameCategory } from '../categories/actions.ts';
import { schema } from '../schema.ts';
import { inApp, type InApp } from '../../testing/in-app.tsx';
import { useAction, type Whole } from './failure.tsx';

let app: InApp;

beforeEach(async () => {
  app = await inApp();
});

afterEach(() => app.close());

interface PageProps {
  readonly action: () => Promise<unknown>;
  readonly whole?: Whole<unknown> | undefined;
}

function Page({ action, whole }: PageProps): ReactElement {
  const run = useAction();
  return (
    <button type="button" onClick={() => run(action, 'Saved.', whole)}>
      Save
    </button>
  );
}

const show = (page: string, action: () => Promise<unknown>, whole?: Whole<unknown>): void =>
  app.show(page, <Page action={action} whole={whole} />);
const save = (): void => app.container.querySelector('button')?.click();
const textOf = (role: string): string => app.container.querySelector(`[role="${role}"]`)?.textContent ?? '';

it('an action reports its success only on the page where it began', async () => {
  show('accounts', () => addCategory(app.client, 'Food', 'spending'));
  save();
  await expect.poll(() => textOf('status')).toContain('Saved.');

  const begun = Promise.withResolvers<void>();
  const mayEnd = Promise.withResolvers<void>();
  const action = async (): Promise<void> => {
    begun.resolve();
    await mayEnd.promise;
    await addCategory(app.client, 'Fun', 'spending');
  };
  show('entries', action);
  expect(textOf('status')).toBe('');
  save();
  await begun.promise;
  show('accounts', action);
  const { queryCount } = app;
  mayEnd.resolve();
  // The last step of an action is a query that finds out whether it changed anything.
  await expect.poll(() => app.queryCount).toBe(queryCount + 1);
  flushSync(() => undefined);
  expect(textOf('status')).toBe('');
});

it('an action of several transactions offers no undo, which would revert only the last one', async () => {
  await addCategory(app.client, 'Rent', 'spending');
  show('accounts', async () => {
    await addCategory(app.client, 'Food', 'spending');
    await addCategory(app.client, 'Fun', 'spending');
  });
  save();
  await expect.poll(() => textOf('status')).toBe('Saved.');
});

describe('the undo shortcut', () => {
  const press = (key: string): boolean => dispatchEvent(new KeyboardEvent('keydown', { key, ctrlKey: true }));
  const pressUndo = (): boolean => press('z');
  const names = async (): Promise<unknown[]> =>
    (await app.client.query('SELECT name FROM categories ORDER BY name')).map(({ name }) => name);
  const both = async (): Promise<void> => {
    await addCategory(app.client, 'Food', 'spending');
    await addCategory(app.client, 'Fun', 'spending');
  };
  const bothAtOnce: Whole<unknown> = {
    count: () => 2,
    revert: async () => {
      const isLeft = (await names()).some((name) => ['Food', 'Meals', 'Fun'].includes(String(name)));
      if (!isLeft) return 0;
      return (await app.client.execute("DELETE FROM categories WHERE name IN ('Food', 'Meals', 'Fun')")).changes;
    },
    finish: () => Promise.resolve('Both removed.'),
  };

  it('undoes an action of several transactions as a whole, between those after and before it, and redoes it', async () => {
    await addCategory(app.client, 'Rent', 'spending');
    show('accounts', both, bothAtOnce);
    save();
    await expect.poll(() => textOf('status')).toBe('Saved.');
    show('entries', () => addCategory(app.client, 'Gifts', 'spending'));
    save();
    await expect.poll(() => textOf('status')).toContain('Saved.');
    pressUndo();
    await expect.poll(() => textOf('status')).toContain('Undone.');
    expect(await names()).toEqual(['Food', 'Fun', 'Rent']);
    pressUndo();
    await expect.poll(() => textOf('status')).toBe('Both removed.');
    expect(await names()).toEqual(['Rent']);
    pressUndo();
    await expect.poll(() => textOf('status')).toContain('Undone.');
    expect(await names()).toEqual([]);
    press('y');
    await expect.poll(names).toEqual(['Rent']);
    await expect.poll(() => textOf('status')).toContain('Redone.');
    press('y');
    await expect.poll(names).toEqual(['Food', 'Fun', 'Rent']);
    await expect.poll(() => textOf('status')).toContain('Redone.');
    pressUndo();
    await expect.poll(() => textOf('status')).toBe('Both removed.');
    expect(await names()).toEqual(['Rent']);
  });

  it('ends at an action of several transactions that another tab has changed', async () => {
    await app.close();
    app = await inApp('durable');
    const other = await createClient({ name: app.client.name, schema });
    await addCategory(app.client, 'Rent', 'spending');
    show('accounts', both, bothAtOnce);
    save();
    await expect.poll(() => textOf('status')).toBe('Saved.');
    await other.execute("UPDATE categories SET name = 'Meals' WHERE name = 'Food'");
    pressUndo();
    await expect.poll(() => textOf('status')).toBe('Both removed.');
    expect(await names()).toEqual(['Rent']);
    // The next step of the client would bring the action back.
    pressUndo();
    await expect.poll(() => textOf('status')).toBe('Earlier actions cannot be undone.');
    expect(await names()).toEqual(['Rent']);
    show('entries', () => addCategory(app.client, 'Gifts', 'spending'));
    save();
    await expect.poll(() => textOf('status')).toContain('Saved.');
    pressUndo();
    await expect.poll(() => textOf('status')).toContain('Undone.');
    expect(await names()).toEqual(['Rent']);
    await other.close();
  });

  it('undoes an action as a whole that has just ended, whose steps are not counted yet', async () => {
    await addCategory(app.client, 'Rent', 'spending');
    const mayCount = Promise.withResolvers<void>();
    const ended = Promise.withResolvers<void>();
    const action = async (): Promise<void> => {
      await both();
      app.mayQuery = mayCount.promise;
      ended.resolve();
    };
    show('accounts', action, bothAtOnce);
    save();
    await ended.promise;
    expect(await names()).toEqual(['Food', 'Fun', 'Rent']);
    pressUndo();
    mayCount.resolve();
    await expect.poll(() => textOf('status')).toBe('Both removed.');
    expect(await names()).toEqual(['Rent']);
  });

  it('undoes what an action wrote before it failed, and not the action before', async () => {
    await addCategory(app.client, 'Rent', 'spending');
    show('accounts', both, bothAtOnce);
    save();
    await expect.poll(() => textOf('status')).toBe('Saved.');
    show('entries', async () => {
      await addCategory(app.client, 'Gifts', 'spending');
      await addCategory(app.client, 'Travel', 'spending');
      throw new Error('no');
    });
    const { queryCount } = app;
    save();
    await expect.poll(() => textOf('alert')).toContain('went wrong');
    await expect.poll(() => app.queryCount).toBe(queryCount + 2);
    pressUndo();
    await expect.poll(names).toEqual(['Food', 'Fun', 'Gifts', 'Rent']);
    await expect.poll(() => textOf('status')).toContain('Undone.');
    pressUndo();
    await expect.poll(names).toEqual(['Food', 'Fun', 'Rent']);
  });

  it('keeps an action that another one interrupted, and undoes all of the other', async () => {
    await addCategory(app.client, 'Rent', 'spending');
    const begun = Promise.withResolvers<void>();
    const mayEnd = Promise.withResolvers<void>();
    const interrupted = async (): Promise<void> => {
      await addCategory(app.client, 'Food', 'spending');
      begun.resolve();
      await mayEnd.promise;
      await addCategory(app.client, 'Fun', 'spending');
    };
    show('accounts', interrupted, bothAtOnce);
    save();
    await begun.promise;
    // No undo of a part.
    pressUndo();
    show('entries', () => addCategory(app.client, 'Gifts', 'spending'));
    save();
    await expect.poll(() => textOf('status')).toContain('Saved.');
    expect(await names()).toEqual(['Food', 'Gifts', 'Rent']);
    show('accounts', interrupted, bothAtOnce);
    mayEnd.resolve();
    await expect.poll(() => textOf('status')).toBe('Saved.');
    pressUndo();
    await expect.poll(() => textOf('status')).toBe('Both removed.');
    expect(await names()).toEqual(['Gifts', 'Rent']);
  });

  it.each(['undo', 'redo'] as const)(
    'keeps an action that begins during the %s of several transactions',
    async (way) => {
      await addCategory(app.client, 'Rent', 'spending');
      show('accounts', both, bothAtOnce);
      save();
      await expect.poll(() => textOf('status')).toBe('Saved.');
      if (way === 'redo') {
        pressUndo();
        await expect.poll(() => textOf('status')).toBe('Both removed.');
      }
      const first = app.onNext(way);
      press(way === 'undo' ? 'z' : 'y');
      await first;
      const mayWrite = Promise.withResolvers<void>();
      show('entries', async () => {
        await mayWrite.promise;
        await addCategory(app.client, 'Gifts', 'spending');
      });
      save();
      if (way === 'redo') await expect.poll(() => textOf('status')).toContain('Only part of it was redone.');
      mayWrite.resolve();
      await expect.poll(() => textOf('status')).toContain('Saved.');
      if (way === 'redo') {
        expect(await names()).toEqual(['Food', 'Gifts', 'Rent']);
        pressUndo();
        await expect.poll(() => textOf('status')).toContain('Undone.');
        pressUndo();
      }
      await expect.poll(names).toEqual(way === 'redo' ? ['Rent'] : ['Gifts', 'Rent']);
    },
  );

  it('repeats the undo of an action of several transactions that failed', async () => {
    await addCategory(app.client, 'Rent', 'spending');
    let isFailing = true;
    show('accounts', both, {
      ...bothAtOnce,
      revert: async (value) => {
        if (isFailing) throw new Error('no');
        return await bothAtOnce.revert(value);
      },
    });
    save();
    await expect.poll(() => textOf('status')).toBe('Saved.');
    pressUndo();
    await expect.poll(() => textOf('alert')).toContain('went wrong');
    isFailing = false;
    pressUndo();
    await expect.poll(() => textOf('status')).toBe('Both removed.');
    expect(await names()).toEqual(['Rent']);
  });
});

describe('an action during which another tab writes', () => {
  let other: Client;

  beforeEach(async () => {
    await app.close();
    app = await inApp('durable');
    other = await createClient({ name: app.client.name, schema });
  });

  afterEach(() => other.close());

  it('can be undone', async () => {
    await addCategory(app.client, 'Rent', 'spending');
    show('accounts', async () => {
      await addCategory(other, 'Theirs', 'spending');
      await addCategory(app.client, 'Food', 'spending');
      await addCategory(other, 'Theirs too', 'spending');
    });
    save();
    await expect.poll(() => textOf('status')).toBe('Saved.Undo');
  });

  it('offers no undo if it changed nothing itself: that would undo the action before', async () => {
    await addCategory(app.client, 'Rent', 'spending');
    show('accounts', async () => {
      await app.client.execute("UPDATE categories SET name = 'Food' WHERE name = 'Gone'");
      await addCategory(other, 'Theirs', 'spending');
    });
    save();
    await expect.poll(() => textOf('status')).toBe('Nothing changed.');
  });
});

it('an action whose result another tab has changed is not undone, nor is the action before it', async () => {
  await app.close();
  app = await inApp('durable');
  const other = await createClient({ name: app.client.name, schema });
  const food = await addCategory(other, 'Food', 'spending');
  show('accounts', () => renameCategory(app.client, food, 'Meals'));
  save();
  await expect.poll(() => textOf('status')).toContain('Saved.Undo');
  await renameCategory(other, food, 'Dinner');
  [...app.container.querySelectorAll('button')].find((button) => button.textContent === 'Undo')?.click();
  await expect.poll(() => textOf('alert')).toContain('changed again');
  expect(textOf('status')).toBe('');
  await other.close();
});

it('a failure is shown on the page that the user has reached by then', async () => {
  const begun = Promise.withResolvers<void>();
  const mayEnd = Promise.withResolvers<void>();
  const action = async (): Promise<void> => {
    begun.resolve();
    await mayEnd.promise;
  };
  show('accounts', action);
  save();
  await begun.promise;
  show('entries', action);
  mayEnd.reject(new Error('no'));
  await expect.poll(() => textOf('alert')).toContain('went wrong');
});
