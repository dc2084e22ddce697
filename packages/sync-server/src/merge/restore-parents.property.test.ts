import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { atLevel } from '../../../../tests/kit/level.ts';
import { insert, remove, update, type Change } from '../../testing/changeset.ts';
import { expectOneEnd } from '../../testing/orders-of-arrival.ts';

/** Notes n and o; the stickies r and s below n. */
const START: readonly Change[] = [
  insert('notes', 'n', { title: 'n', reads: 0n }),
  insert('notes', 'o', { title: 'o', reads: 0n }),
  insert('stickies', 'r', { note_id: 'n' }),
  insert('stickies', 's', { note_id: 'n' }),
];

// The device deletes a parent together with the children that it has, or deletes only children.
const deletes = fc.constantFrom(
  [remove('notes', 'o')],
  [remove('notes', 'n'), remove('stickies', 'r'), remove('stickies', 's')],
  [remove('stickies', 's')],
  [remove('stickies', 'r'), remove('stickies', 's')],
  [remove('notes', 'n'), remove('notes', 'o'), remove('stickies', 'r'), remove('stickies', 's')],
);
const note = fc.constantFrom('n', 'o');

const written = (author: number): fc.Arbitrary<Change> =>
  fc.oneof(
    fc
      .tuple(fc.constantFrom('g', 'h'), note)
      .map(([key, note_id]) => insert('stickies', `${key}${author}`, { note_id })),
    fc.tuple(fc.constantFrom('r', 's'), note).map(([key, note_id]) => update('stickies', key, { note_id })),
    fc.constantFrom('r', 's').map((key) => update('stickies', key, { body: `by ${author}` })),
    note.map((key) => update('notes', key, { title: `by ${author}` })),
  );
const byRow = {
  minLength: 1,
  maxLength: 4,
  selector: (one: Change): string =>
    ('insert' in one ? one.insert : 'update' in one ? one.update : one.delete) + String(one.key[0]),
};
const histories = fc.tuple(deletes, fc.uniqueArray(written(0), byRow), fc.uniqueArray(written(1), byRow));

// A restored row also restores its parents. If a third author moves such a row to another parent, its first parent
// survives or not depending on the order, so the property omits this case; restore-parents.test.ts has examples.
describe('deletes of parents and concurrent references to them under restore-parent', () => {
  it('produce the same rows in every order of arrival, and none is rejected [MR-83] [MR-84]', async () => {
    await fc.assert(
      fc.asyncProperty(histories, async (changesets) => {
        const end = await expectOneEnd(
          START,
          changesets.map((changes) => ({ changes })),
        );
        expect(JSON.stringify((end as unknown[])[0])).not.toContain('rejected');
      }),
      { numRuns: atLevel({ test: 12, verify: 150 }) },
    );
  });
});
