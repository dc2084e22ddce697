import fc from 'fast-check';
import { expect, it } from 'vitest';
import { anyCharacter } from './any-character.ts';

it('fast-check can simplify any text of these characters, and half of a surrogate pair is none of them', () => {
  const text = fc.string({ unit: anyCharacter });
  fc.assert(fc.property(text, (value) => value.isWellFormed() && text.canShrinkWithoutContext(value)));
  for (const value of ['\u0000', '\uD7FF', '\uE000', '\u{10FFFF}'])
    expect(anyCharacter.canShrinkWithoutContext(value), value).toBe(true);
  for (const value of ['', 'ab', '\uD800', 1]) expect(anyCharacter.canShrinkWithoutContext(value)).toBe(false);
});
