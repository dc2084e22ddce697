import fc from 'fast-check';
import { describe, it } from 'vitest';
import { atLevel } from '../../../../tests/kit/level.ts';
import { insert, remove, update, type Change } from '../../testing/changeset.ts';
import { expectOneEnd } from '../../testing/orders-of-arrival.ts';

/**
 * Accounts x and y; notes n and o, which an update revives; memos m below x and n, k below y and o. All have seen them.
 */
const START: readonly Change[] = [
  insert('accounts', 'x', { name: 'x' }),
  insert('accounts', 'y', { name: 'y' }),
  insert('notes', 'n', { title: 'n', reads: 0n }),
  insert('notes', 'o', { title: 'o', reads: 0n }),
  insert('memos', 'm', { account_id: 'x', note_id: 'n' }),
  insert('memos', 'k', { account_id: 'y', note_id: 'o' }),
];

// The deleting device captures SQLite's own SET NULL, for the children that it has.
const deletes = fc.constantFrom(
  [remove('accounts', 'x'), update('memos', 'm', { account_id: null })],
  [remove('accounts', 'y'), update('memos', 'k', { account_id: null })],
  [remove('notes', 'n'), update('memos', 'm', { note_id: null })],
  [remove('accounts', 'x'), remove('notes', 'n'), update('memos', 'm', { account_id: null, note_id: null })],
  [remove('accounts', 'x'), remove('accounts', 'y'), remove('memos', 'm'), remove('memos', 'k')],
);
const account = fc.constantFrom('x', 'y');
const note = fc.constantFrom('n', 'o');

const written = (author: number): fc.Arbitrary<Change> =>
  fc.oneof(
    fc
      .tuple(fc.constantFrom('g', 'h'), account, note)
      .map(([key, account_id, note_id]) => insert('memos', `${key}${author}`, { account_id, note_id })),
    fc.tuple(fc.constantFrom('m', 'k'), account).map(([key, account_id]) => update('memos', key, { account_id })),
    fc.tuple(fc.constantFrom('m', 'k'), note).map(([key, note_id]) => update('memos', key, { note_id })),
    fc.constantFrom('m', 'k').map((key) => update('memos', key, { body: `by ${author}` })),
    fc.constantFrom('m', 'k').map((key) => remove('memos', key)),
    note.map((key) => update('notes', key, { title: `by ${author}` })),
  );
const byRow = {
  minLength: 1,
  maxLength: 4,
  selector: (one: Change): string =>
    ('insert' in one ? one.insert : 'update' in one ? one.update : one.delete) + String(one.key[0]),
};
const histories = fc.tuple(deletes, fc.uniqueArray(written(0), byRow), fc.uniqueArray(written(1), byRow));

describe('deletes of parents and concurrent references to them under set-null', () => {
  it('produce the same rows and conflicts in every order of arrival [MR-79] [MR-80]', async () => {
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

  it.each([2000, 0])(
    'produce the same rows if an author who had not seen the parent inserts it again %i ms earlier [MR-80]',
    async (ageMs) => {
      await expectOneEnd(START, [
        { changes: [remove('accounts', 'x'), update('memos', 'm', { account_id: null })] },
        {
          changes: [insert('accounts', 'x', { name: 'x' }), insert('memos', 'p', { account_id: 'x' })],
          sawStart: false,
          ageMs,
        },
        { changes: [insert('memos', 'q', { account_id: 'x' })] },
      ]);
    },
  );
});
