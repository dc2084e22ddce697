import fc from 'fast-check';
import { describe, it } from 'vitest';
import { atLevel } from '../../../../tests/kit/level.ts';
import { expectOneEnd } from '../../testing/orders-of-arrival.ts';
import { insert, remove, update, type Change } from '../../testing/changeset.ts';

/**
 * Accounts x and y; entries e below x and f below y; a split below e; a note with a comment, a card below x by its
 * name. Every author has seen them.
 */
const START: readonly Change[] = [
  insert('accounts', 'x', { name: 'x' }),
  insert('accounts', 'y', { name: 'y' }),
  insert('entries', 'e', { account_id: 'x', amount: 1n }),
  insert('entries', 'f', { account_id: 'y', amount: 1n }),
  insert('splits', 's', { entry_id: 'e', share: 1n }),
  insert('notes', 'n', { title: 'n', reads: 0n }),
  insert('comments', 'c', { note_id: 'n' }),
  insert('cards', 'k', { account_name: 'x' }),
];

// The deleting device captures SQLite's own cascade, with the children that it has.
const withE = [remove('entries', 'e'), remove('splits', 's')];
const withX = [remove('accounts', 'x'), remove('cards', 'k'), ...withE];
const withY = [remove('accounts', 'y'), remove('entries', 'f')];
const withN = [remove('notes', 'n'), remove('comments', 'c')];
const deletes = fc.constantFrom(
  withX,
  withY,
  withE,
  withN,
  [remove('entries', 'f')],
  [...withX, ...withY],
  [...withY, ...withN],
  [...withX, ...withN],
);

const written = (author: number): fc.Arbitrary<Change> =>
  fc.oneof(
    fc
      .tuple(fc.constantFrom('g', 'h'), fc.constantFrom('x', 'y'))
      .map(([key, account_id]) => insert('entries', `${key}${author}`, { account_id, amount: BigInt(author) })),
    fc
      .tuple(fc.constantFrom('t', 'u'), fc.constantFrom('e', 'f', `g${author}`))
      .map(([key, entry_id]) => insert('splits', `${key}${author}`, { entry_id })),
    fc.constantFrom('e', 'f').map((key) => update('entries', key, { note: `by ${author}` })),
    fc
      .tuple(fc.constantFrom('e', 'f'), fc.constantFrom('x', 'y'))
      .map(([key, account_id]) => update('entries', key, { account_id })),
    fc.constantFrom('e', 'f').map((entry_id) => update('splits', 's', { entry_id })),
    fc.constant(update('notes', 'n', { title: `by ${author}` })),
    fc.constantFrom('c', 'd').map((key) => insert('comments', `${key}${author}`, { note_id: 'n', body: 'late' })),
    fc.constant(insert('cards', `k${author}`, { account_name: 'x' })),
  );
const byRow = {
  minLength: 1,
  maxLength: 4,
  selector: (one: Change): string =>
    ('insert' in one ? one.insert : 'update' in one ? one.update : one.delete) + String(one.key[0]),
};
const histories = fc.tuple(deletes, fc.uniqueArray(written(0), byRow), fc.uniqueArray(written(1), byRow));

describe('deletes of parents and concurrent writes of their children', () => {
  it('produce the same rows in every order of arrival [MR-64] [MR-69]', async () => {
    await fc.assert(
      fc.asyncProperty(histories, async (changesets) => {
        await expectOneEnd(
          START,
          changesets.map((changes) => ({ changes })),
        );
      }),
      { numRuns: atLevel({ test: 12, verify: 150 }) },
    );
  });

  // An author who has not seen the parent inserts it a second time. Whichever insert wins, a second author deletes the
  // first parent, and a third adds a child to it.
  it.each([
    ['the first stands', 'accounts', 2000],
    ['the second stands', 'accounts', 0],
    ['the first stands', 'notes', 2000],
    ['the second stands', 'notes', 0],
  ])('produce the same rows if a parent was inserted twice and %s, in %s [MR-64]', async (_, parents, ageMs) => {
    const isNote = parents === 'notes';
    const child = (key: string): Change =>
      isNote ? insert('comments', key, { note_id: 'n' }) : insert('entries', key, { account_id: 'x', amount: 1n });
    const again = isNote ? insert('notes', 'n', { title: 'again', reads: 0n }) : insert('accounts', 'x', { name: 'x' });
    await expectOneEnd(START, [
      { changes: isNote ? withN : withX },
      { changes: [again, child('p')], sawStart: false, ageMs },
      { changes: [child('q')] },
    ]);
  });
});
