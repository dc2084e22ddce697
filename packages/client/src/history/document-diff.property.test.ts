import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { DocumentOperation } from '../interface/row-history.ts';
import { diffDocuments, type Json } from './document-diff.ts';

// Few keys and values, so that documents have much in common.
const { value } = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    fc.constantFrom<Json[]>(null, true, 0, 1, '', 'one text', 'another text', 'a/b~c', '\u{1f600}'),
    fc.array(tie('value'), { maxLength: 5 }),
    fc.dictionary(fc.constantFrom('a', 'b', 'a/b', '~'), tie('value'), { maxKeys: 4 }),
  ),
}));

/** Applies a JSON Patch to a copy, and checks the old values. */
function apply(document: Json, operations: readonly DocumentOperation[]): Json {
  const root = { root: structuredClone(document) } as Record<string, Json>;
  for (const operation of operations) {
    const steps = ['root', ...operation.path.split('/').slice(1)].map((step) =>
      step.replaceAll('~1', '/').replaceAll('~0', '~'),
    );
    const last = steps.pop() as string;
    let parent = root as Record<string, Json> | Json[];
    for (const step of steps) parent = parent[step as keyof typeof parent] as typeof parent;
    const old = parent[last as keyof typeof parent] as Json | undefined;
    if (operation.op !== 'add') expect(old).toEqual(operation.oldValue);
    if (operation.op === 'replace' && operation.text !== undefined) {
      let text = old as string;
      for (const { at, removed, inserted } of operation.text.toReversed()) {
        expect(text.slice(at, at + removed.length)).toBe(removed);
        text = text.slice(0, at) + inserted + text.slice(at + removed.length);
      }
      expect(text).toBe(operation.value);
    }
    if (operation.op === 'remove')
      if (Array.isArray(parent)) parent.splice(Number(last), 1);
      else delete parent[last];
    else if (operation.op === 'add' && Array.isArray(parent)) parent.splice(Number(last), 0, operation.value as Json);
    else (parent as Record<string, Json>)[last] = operation.value as Json;
  }
  return root['root'] as Json;
}

describe('the difference of two documents', () => {
  it('turns the first document into the second, and is empty for equal documents', () => {
    fc.assert(
      fc.property(value, value, (from, to) => {
        expect(apply(from, diffDocuments(from, to))).toEqual(to);
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
