import fc from 'fast-check';
import { canonicalJson, emptyObject, parseJson, type JsonValue } from '../document/json.ts';

const key = fc.constantFrom('a', 'b', 'body', 'items', 'ä');
const scalar = fc.oneof(fc.constant(null), fc.boolean(), fc.integer({ min: -3, max: 3 }), fc.double({ noNaN: true, noDefaultInfinity: true }), fc.string({ unit: fc.constantFrom('x', 'y', '👍', 'ß'), maxLength: 6 }));

/** Objects of an array that differ in `id`. */
function named(inner: fc.Arbitrary<JsonValue>): fc.Arbitrary<JsonValue> {
  return fc.uniqueArray(fc.tuple(fc.constantFrom('p', 'q', 'r', 's', 1, 2), inner), { selector: ([id]) => id, maxLength: 5 }).map((entries) => entries.map(([id, value]) => Object.assign(emptyObject(), { id, value })));
}

/** Any JSON of a few levels, with plain and named arrays, made so that two of them have much in common. */
export const json: fc.Arbitrary<JsonValue> = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    scalar,
    fc.array(tie('value'), { maxLength: 4 }),
    named(tie('value')),
    fc.dictionary(key, tie('value'), { maxKeys: 4 }).map((object) => Object.assign(emptyObject(), object)),
  ),
})).value.map((value) => parseJson(canonicalJson(value), { maxLength: Infinity, maxDepth: 20 }));
