import { anyCharacter } from '@rockpool/shared/testing';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { atLevel } from '../../../../tests/kit/level.ts';
import { isKeyBefore, lookupKey } from './lookup-key.ts';

const TEXT = fc.oneof(
  fc.string({ unit: anyCharacter, maxLength: 4 }),
  fc.string({ unit: fc.constantFrom('a', 'b', 'é', '\u{e000}', '\u{1f600}', '7'), maxLength: 70 }),
  fc.constantFrom('a'.repeat(64), 'a'.repeat(65), 'a'.repeat(63)),
);
/** The UTF-8 bytes of a text as characters, for a comparison byte by byte. */
const bytes = (text: string): string => String.fromCharCode(...new TextEncoder().encode(text));

it('isKeyBefore orders keys only as SQLite orders their values', () => {
  let known = 0;
  fc.assert(
    fc.property(TEXT, TEXT, (one, other) => {
      if (!isKeyBefore(lookupKey(one), lookupKey(other), false)) return;
      known++;
      expect(bytes(one) < bytes(other)).toBe(true);
    }),
    { numRuns: atLevel({ test: 1_000, verify: 3_000 }) },
  );
  expect(known).toBeGreaterThan(atLevel({ test: 60, verify: 200 }));
});

it('isKeyBefore compares numeric texts only in a numeric column', () => {
  const isBefore = (
    one: string | number | bigint | null,
    other: string | number | bigint,
    ofNumbers: boolean,
  ): boolean => isKeyBefore(lookupKey(one), lookupKey(other), ofNumbers);
  expect([
    isBefore('9', '10', false),
    isBefore('9', '10', true),
    isBefore(10, ' 9e0', true),
    isBefore(-(2n ** 62n), 1.5, true),
  ]).toEqual([false, true, false, true]);
  // SQLite keeps these as texts, although JavaScript parses them as numbers.
  for (const text of ['0x10', '', ' ', 'Infinity', '\u00a01']) expect(lookupKey(text)).toBe(`text:${text}`);
  expect([isBefore(1, 'a', true), isBefore(null, 'a', true)]).toEqual([false, false]);
});
