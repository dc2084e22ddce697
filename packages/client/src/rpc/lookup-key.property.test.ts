import fc from 'fast-check';
import { expect, it } from 'vitest';
import { isKeyBefore, lookupKey } from './lookup-key.ts';

const TEXT = fc.oneof(fc.string({ unit: 'binary', maxLength: 4 }), fc.string({ unit: fc.constantFrom('a', 'b', 'é', '\u{e000}', '\u{1f600}', '7'), maxLength: 70 }), fc.constantFrom('a'.repeat(64), 'a'.repeat(65), 'a'.repeat(63)));
/** Sorts as the bytes do. */
const bytes = (text: string): string => String.fromCharCode(...new TextEncoder().encode(text));

it('a key that is before another belongs to values that are', () => {
  let known = 0;
  fc.assert(
    fc.property(TEXT, TEXT, (one, other) => {
      if (!isKeyBefore(lookupKey(one), lookupKey(other))) return;
      known++;
      expect(bytes(one) < bytes(other)).toBe(true);
    }),
    { numRuns: 3000 },
  );
  expect(known).toBeGreaterThan(200);
});

it('nothing is said of values that may be numbers or texts', () => {
  expect(isKeyBefore(lookupKey('10'), lookupKey('9'))).toBe(false);
  expect(isKeyBefore(lookupKey(1), lookupKey('a'))).toBe(false);
  expect(isKeyBefore(lookupKey(null), lookupKey('a'))).toBe(false);
});
