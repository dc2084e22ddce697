import { expect, it } from 'vitest';
import { keyedGroups, type KeyedGroup } from './group-keys.ts';

interface Category {
  readonly id: string;
}

const drawn = (...states: readonly Readonly<Record<string, readonly string[]>>[]): Record<string, string> => {
  let groups: readonly KeyedGroup<Category>[] = [];
  for (const state of states)
    groups = keyedGroups(
      new Map(Object.entries(state).map(([name, ids]) => [name, ids.map((id) => ({ id }))])),
      groups,
    );
  return Object.fromEntries(groups.map(({ key, name }) => [name, key]));
};

it('a renamed group keeps its key, and so do the others, in any order', () => {
  expect(drawn({ Home: ['a', 'b'], Fun: ['c'] }, { Fun: ['c'], House: ['b', 'a'] })).toEqual({
    Fun: 'Fun',
    House: 'Home',
  });
});

it('two groups that are renamed at once keep their keys', () => {
  expect(drawn({ Home: ['a'], Fun: ['c'] }, { House: ['a'], Joy: ['c'] })).toEqual({ House: 'Home', Joy: 'Fun' });
});

it('a new group that has the earlier name of another one gets a key of its own', () => {
  const keys = drawn({ Home: ['a'] }, { House: ['a'] }, { House: ['a'], Home: ['b'] });
  expect(keys['House']).toBe('Home');
  expect(new Set(Object.values(keys)).size).toBe(2);
});

it('a group whose categories all joined another one leaves the key of that one unchanged', () => {
  expect(drawn({ Home: ['a'], Fun: ['c'] }, { Fun: ['a', 'c'] })).toEqual({ Fun: 'Fun' });
});
