import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { applyOperations } from '../../testing/apply-operations.ts';
import { diffDocuments, type Json } from './document-diff.ts';

// Few keys and values, so that the documents have many in common.
const { value } = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    fc.constantFrom<Json[]>(null, true, 0, 1, '', 'one text', 'another text', 'a/b~c', '\u{1f600}'),
    fc.array(tie('value'), { maxLength: 5 }),
    fc.dictionary(fc.constantFrom('a', 'b', 'a/b', '~'), tie('value'), { maxKeys: 4 }),
  ),
}));

describe('the difference of two documents', () => {
  it('turns the first document into the second, and is empty for equal documents', () => {
    fc.assert(
      fc.property(value, value, (from, to) => {
        expect(applyOperations(from, diffDocuments(from, to))).toEqual(to);
        expect(diffDocuments(from, structuredClone(from))).toEqual([]);
      }),
      { numRuns: 500 },
    );
  });

  it('names the smallest differing parts: members, elements, and ranges of texts', () => {
    const from = { title: 'Plan', body: 'We meet on Monday.', tags: ['a', 'b', 'c'], owner: { name: 'Ann' } };
    const to = { body: 'We meet on Friday.', tags: ['a', 'c', 'd'], owner: { name: 'Ann', mail: 'a@b.c' } };
    expect(diffDocuments(from, to)).toEqual([
      { op: 'remove', path: '/title', oldValue: 'Plan' },
      {
        op: 'replace',
        path: '/body',
        value: 'We meet on Friday.',
        oldValue: 'We meet on Monday.',
        text: [{ at: 11, removed: 'Mon', inserted: 'Fri' }],
      },
      { op: 'add', path: '/tags/3', value: 'd' },
      { op: 'remove', path: '/tags/1', oldValue: 'b' },
      { op: 'add', path: '/owner/mail', value: 'a@b.c' },
    ]);
  });
});
