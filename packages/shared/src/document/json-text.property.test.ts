import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { atLevel } from '../../../../tests/kit/level.ts';
import { json } from '../../testing/json-arbitraries.ts';
import { DEFAULT_DOCUMENT_RULE } from './document-rule.ts';
import { canonicalJson, parseJson, type JsonValue } from './json.ts';
import { readChangedJson, readStoredJson } from './json-text.ts';

const RULE = { ...DEFAULT_DOCUMENT_RULE, maxDepth: 12 };

/** A text that is long enough to be cached. */
const FILLER = 'x'.repeat(5000);

function read(read: () => unknown): unknown {
  try {
    return read();
  } catch (thrown) {
    return String((thrown as Error).message);
  }
}

/** A text in which any stretch is replaced with any other, so that it is rarely JSON. */
const damaged = fc.record({
  value: json,
  at: fc.nat(),
  remove: fc.nat({ max: 6 }),
  insert: fc.oneof(
    fc.constantFrom(
      '[',
      ']',
      '{',
      '}',
      ',',
      ':',
      '"',
      '0',
      '1e',
      '-',
      '"a":',
      '1,2',
      '[[[[[[[[[[[[[[[]',
      ' ',
      '\\',
      'null,',
    ),
    fc.string({ maxLength: 4 }),
  ),
});

describe('a text that differs from a known one', () => {
  it('reads the same as a parse of the whole text', () => {
    fc.assert(
      fc.property(json, json, fc.boolean(), (before, after, isInner) => {
        const wrap = (value: JsonValue): JsonValue =>
          isInner ? { filler: FILLER, rows: [1, { value }, 'z'] } : [FILLER, value, { a: value }];
        const known = canonicalJson(wrap(before));
        readStoredJson(known, RULE);
        const text = JSON.stringify(wrap(after));
        const whole = read(() => parseJson(text, RULE));
        expect(read(() => readChangedJson(text, known, RULE).value)).toEqual(whole);
        if (typeof whole === 'object') expect(readChangedJson(text, known, RULE).text).toBe(canonicalJson(wrap(after)));
      }),
      { numRuns: atLevel({ test: 200, verify: 500 }) },
    );
  });

  it('is rejected exactly if a parse of the whole text rejects it, however it was damaged', () => {
    fc.assert(
      fc.property(damaged, ({ value, at, remove, insert }) => {
        const known = canonicalJson({ filler: FILLER, list: [value, value], value });
        readStoredJson(known, RULE);
        const place = FILLER.length + (at % (known.length - FILLER.length));
        const text = known.slice(0, place) + insert + known.slice(place + remove);
        const whole = read(() => canonicalJson(parseJson(text, RULE)));
        expect(read(() => readChangedJson(text, known, RULE).text)).toBe(whole);
      }),
      { numRuns: atLevel({ test: 700, verify: 2_000 }) },
    );
  });

  it('shares everything around the change with the known text', () => {
    const known = canonicalJson({
      filler: FILLER,
      items: [
        { id: 'a', n: 1 },
        { id: 'b', n: 2 },
      ],
      other: { deep: [1, 2, 3] },
    });
    const before = readStoredJson(known, RULE) as { items: object[]; other: object };
    const changed = readChangedJson(known.replace('"n":2', '"n":{"more":[3]}'), known, RULE).value as typeof before;
    expect(changed.items[1]).toEqual({ id: 'b', n: { more: [3] } });
    expect([changed.items[0], changed.other]).toEqual([before.items[0], before.other]);
    expect(changed.items[0]).toBe(before.items[0]);
    expect(changed.other).toBe(before.other);
  });
});
