import fc from 'fast-check';
import { expect, it } from 'vitest';
import { canonicalJson, parseJson, toCanonicalText, type JsonValue } from './json.ts';

const LIMITS = { maxLength: 100_000, maxDepth: 8 };

/** Includes keys that JavaScript sorts itself. */
const key = fc.oneof(
  fc.constantFrom('10', '9', '1', '0', '01', '-1', 'a', 'B', '', 'ä', '👍', 'toJSON', 'length'),
  fc.string({ unit: 'grapheme', maxLength: 3 }).filter((text) => !text.includes('\u0000')),
);
const value = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    fc.constantFrom(null, true, false, 0, -0, 1e21, 0.1, '', 'low tide', '"\\\n'),
    fc.array(tie('value'), { maxLength: 3 }),
    fc
      .uniqueArray(fc.tuple(key, tie('value')), { selector: ([name]) => name, maxLength: 5 })
      .map((entries) => Object.fromEntries(entries)),
    // About FEW_KEYS keys: if there are more, canonicalJson sorts a copy of the object.
    fc
      .uniqueArray(fc.tuple(key, fc.constant(1)), { selector: ([name]) => name, minLength: 15, maxLength: 25 })
      .map((entries) => Object.fromEntries(entries)),
  ),
})).value;

/** The definition of canonical JSON, as simple as possible. */
function expected(json: unknown): string {
  if (json === null || typeof json !== 'object') return JSON.stringify(json);
  if (Array.isArray(json)) return `[${json.map(expected).join()}]`;
  const members = Object.entries(json).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${expected(member)}`).join()}}`;
}

it('canonical JSON is the same for equal values, whatever the order of keys and the whitespace', () => {
  fc.assert(
    fc.property(value, fc.constantFrom(0, 2), (json, blanks) => {
      const text = JSON.stringify(json, null, blanks);
      const canonical = expected(json);
      expect([
        toCanonicalText(text, LIMITS),
        canonicalJson(parseJson(text, LIMITS)),
        canonicalJson(json as JsonValue),
        toCanonicalText(canonical, LIMITS),
      ]).toEqual(new Array(4).fill(canonical));
    }),
  );
});

it.each([
  ['{"a":{"__proto__":1}}', 'key'],
  ['[[[[[[[[[1]]]]]]]]]', 'depth'],
  ['"\\ud800"', 'text'],
  ['{"a\\u0000":1}', 'text'],
  ['12345678901234567', 'number'],
  ['{', 'syntax'],
])('the parser and canonical JSON reject a text by the same rules: %s', (text, problem) => {
  const refusal = expect.objectContaining({
    code: 'document-invalid',
    fields: expect.objectContaining({ problem }) as unknown,
  }) as Error;
  expect(() => parseJson(text, LIMITS)).toThrow(refusal);
  expect(() => toCanonicalText(text, LIMITS)).toThrow(refusal);
});
