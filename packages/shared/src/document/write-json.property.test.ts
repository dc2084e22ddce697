import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import * as Y from 'yjs';
import { atLevel } from '../../../../tests/kit/level.ts';
import { json, RICH_PATHS, richJson } from '../../testing/json-arbitraries.ts';
import { PathRule } from './document-rule.ts';
import { canonicalJson, type JsonValue } from './json.ts';
import { readNode, rootValue } from './json-node.ts';
import { writeJson } from './write-json.ts';

const PLAIN = PathRule.root({ text: ['body', '*.body', 'items.*', '*'], elementKey: 'id' });
const RICH = PathRule.root({ text: ['title'], richText: RICH_PATHS, elementKey: 'id' });

function write(doc: Y.Doc, value: JsonValue, rule = PLAIN): void {
  doc.transact(() => writeJson(doc, value, rule));
}

function text(doc: Y.Doc): string {
  return canonicalJson(readNode(rootValue(doc), 30));
}

function docOf(value: JsonValue, rule = PLAIN): Y.Doc {
  const doc = new Y.Doc();
  write(doc, value, rule);
  return doc;
}

function copy(doc: Y.Doc): Y.Doc {
  const other = new Y.Doc();
  Y.applyUpdate(other, Y.encodeStateAsUpdate(doc));
  return other;
}

function exchange(a: Y.Doc, b: Y.Doc): void {
  Y.applyUpdate(a, Y.encodeStateAsUpdate(b));
  Y.applyUpdate(b, Y.encodeStateAsUpdate(a));
}

it('the size of a write is in proportion to the number of elements that it moves or inserts', () => {
  const list = Array.from({ length: 3_000 }, (_, id) => ({ id }));
  const inserted = Array.from({ length: 3_000 }, (_, id) => ({ id: `${id}` }));
  for (const next of [list.toReversed(), [list[0], ...inserted, ...list.slice(1)], [...inserted, ...list]]) {
    const doc = docOf(list);
    const before = Y.encodeStateVector(doc);
    write(doc, next as JsonValue);
    expect(text(doc)).toBe(canonicalJson(next as JsonValue));
    expect(Y.encodeStateAsUpdate(doc, before).length).toBeLessThan(100 * 3_000);
  }
});

describe.each([
  { what: 'JSON in a document', json, rule: PLAIN },
  { what: 'JSON with rich texts in a document', json: richJson, rule: RICH },
])('$what', ({ json, rule }) => {
  it('reads as it was written, after any sequence of writes', () => {
    fc.assert(
      fc.property(fc.array(json, { minLength: 1, maxLength: 6 }), (values) => {
        const doc = new Y.Doc();
        for (const value of values) {
          write(doc, value, rule);
          expect(text(doc)).toBe(canonicalJson(value));
        }
      }),
      { numRuns: atLevel({ test: 40, verify: 300 }) },
    );
  });

  it('is not changed if nothing differs', () => {
    fc.assert(
      fc.property(json, (value) => {
        const doc = docOf(value, rule);
        const before = Y.encodeStateAsUpdate(doc);
        write(doc, value, rule);
        expect(Y.encodeStateAsUpdate(doc)).toEqual(before);
      }),
    );
  });

  it('is equal for concurrent authors, and can still be edited', () => {
    fc.assert(
      fc.property(json, json, json, json, (start, left, right, next) => {
        const a = docOf(start, rule);
        const b = copy(a);
        write(a, left, rule);
        write(b, right, rule);
        exchange(a, b);
        expect(text(a)).toBe(text(b));
        write(a, next, rule);
        expect(text(a)).toBe(canonicalJson(next));
      }),
      { numRuns: atLevel({ test: 40, verify: 300 }) },
    );
  });
});

describe('concurrent changes', () => {
  /** The final state of two authors who write concurrently. */
  function merged(start: JsonValue, left: JsonValue, right: JsonValue, rule = PLAIN): unknown {
    const a = docOf(start, rule);
    const b = copy(a);
    write(a, left, rule);
    write(b, right, rule);
    exchange(a, b);
    return JSON.parse(text(a));
  }

  it('are both kept if they write different members [MR-03] [MR-18]', () => {
    expect(merged({ a: 1, b: { c: 1 } }, { a: 2, b: { c: 1 } }, { a: 1, b: { c: 1, d: 2 } })).toEqual({
      a: 2,
      b: { c: 1, d: 2 },
    });
  });

  it('are both kept if they write different elements, which their key identifies [MR-18]', () => {
    const start = [
      { id: 'x', n: 1 },
      { id: 'y', n: 1 },
    ];
    expect(
      merged(
        start,
        [
          { id: 'x', n: 2 },
          { id: 'y', n: 1 },
        ],
        [
          { id: 'new', n: 0 },
          { id: 'x', n: 1 },
          { id: 'y', n: 3 },
        ],
      ),
    ).toEqual([
      { id: 'new', n: 0 },
      { id: 'x', n: 2 },
      { id: 'y', n: 3 },
    ]);
  });

  it('are kept if another author moves the element [MR-19]', () => {
    const [x, y, z] = [
      { id: 'x', n: 1 },
      { id: 'y', n: 1 },
      { id: 'z', n: 1 },
    ];
    expect(merged([x, y, z], [z, x, y], [x, y, { id: 'z', n: 2 }])).toEqual([{ id: 'z', n: 2 }, x, y]);
  });

  it('both add their elements to an empty array', () => {
    expect(merged({ items: [] }, { items: [{ id: 'x' }] }, { items: [{ id: 'y' }] })).toEqual({
      items: [{ id: 'x' }, { id: 'y' }],
    });
    const plain = merged({ items: [] }, { items: [1] }, { items: [2] }) as { items: number[] };
    expect(plain.items.toSorted((a, b) => a - b)).toEqual([1, 2]);
  });

  it('are both kept in one text [MR-20]', () => {
    expect(
      merged({ body: 'the tide is out' }, { body: 'the low tide is out' }, { body: 'the tide is out 🌊' }),
    ).toEqual({ body: 'the low tide is out 🌊' });
    expect(merged({ body: '👍👎' }, { body: '👍' }, { body: '👍👎👍' })).toEqual({ body: '👍👍' });
  });

  it('are both kept in a rich text: the typing of one author and the formats of the other [MR-21]', () => {
    const body = (...runs: (string | readonly [string])[]): JsonValue => ({
      body: runs.map((run) =>
        typeof run === 'string' ? { insert: run } : { attributes: { bold: true }, insert: run[0] },
      ),
    });
    expect(
      merged(body('the tide is out'), body('the ', ['tide'], ' is out'), body('now the tide is out!'), RICH),
    ).toEqual(body('now the ', ['tide'], ' is out!'));
    expect(
      merged(body('the tide is out'), body('the ', ['tide is'], ' out'), body('the tide (low) is out'), RICH),
    ).toEqual(body('the ', ['tide (low) is'], ' out'));
  });

  it('leave one format if both set the same format of the same characters [MR-22]', () => {
    const body = (color: string): JsonValue => ({ body: [{ attributes: { color }, insert: 'tide' }] });
    expect([body('red'), body('blue')]).toContainEqual(
      merged({ body: [{ insert: 'tide' }] }, body('red'), body('blue'), RICH),
    );
  });

  it('leave one value of a plain string [MR-23]', () => {
    const rest = { title: 'x' };
    expect(['left', 'right']).toContain(
      (merged({ in: rest }, { in: { title: 'left' } }, { in: { title: 'right' } }) as { in: typeof rest }).in.title,
    );
  });
});
