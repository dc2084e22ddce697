import fc from 'fast-check';
import { canonicalJson, emptyObject, parseJson, type JsonValue } from '../src/document/json.ts';
import { toRuns } from '../src/document/rich-text.ts';

const key = fc.constantFrom('a', 'b', 'body', 'items', 'ä');
const scalar = fc.oneof(
  fc.constant(null),
  fc.boolean(),
  fc.integer({ min: -3, max: 3 }),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.string({ unit: fc.constantFrom('x', 'y', '👍', 'ß'), maxLength: 6 }),
);

/** Objects of an array, with different `id`s. */
function named(inner: fc.Arbitrary<JsonValue>): fc.Arbitrary<JsonValue> {
  return fc
    .uniqueArray(fc.tuple(fc.constantFrom('p', 'q', 'r', 's', 1, 2), inner), { selector: ([id]) => id, maxLength: 5 })
    .map((entries) => entries.map(([id, value]) => Object.assign(emptyObject(), { id, value })));
}

/** Any JSON of a few levels, with plain and named arrays, such that two values have much in common. */
export const json: fc.Arbitrary<JsonValue> = fc
  .letrec<{ value: JsonValue }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 3, withCrossShrink: true },
      scalar,
      fc.array(tie('value'), { maxLength: 4 }),
      named(tie('value')),
      fc.dictionary(key, tie('value'), { maxKeys: 4 }).map((object) => Object.assign(emptyObject(), object)),
    ),
  }))
  .value.map((value) => parseJson(canonicalJson(value), { maxLength: Infinity, maxDepth: 20 }));

const formats = fc.dictionary(
  fc.constantFrom('bold', 'italic', 'link', 'header'),
  fc.constantFrom(true, 1, 2, 'https://a.test'),
  { maxKeys: 2 },
);

/** The JSON of a rich text, in canonical form. */
export const richText: fc.Arbitrary<JsonValue> = fc
  .array(
    fc.record({
      insert: fc.string({ unit: fc.constantFrom('x', 'y', ' ', '\n', '👍'), minLength: 1, maxLength: 5 }),
      attributes: formats,
    }),
    { maxLength: 5 },
  )
  .map((runs): JsonValue => toRuns(runs));

/** A document with texts of all kinds, in an object and in arrays with and without names. */
export const richJson: fc.Arbitrary<JsonValue> = fc
  .record({
    body: fc.option(richText, { freq: 10 }),
    title: scalar,
    items: named(richText),
    list: fc.array(richText, { maxLength: 3 }),
  })
  .map((value) => parseJson(canonicalJson(value), { maxLength: Infinity, maxDepth: 20 }));

/** The paths of the rich texts in `richJson`. */
export const RICH_PATHS: readonly string[] = ['body', 'items.*.value', 'list.*'];
