import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { spliceBetween, SplicedText } from './text-splice.ts';

// Few characters, so that texts share beginnings and ends; among them pairs that share a surrogate.
const text = fc.string({ unit: fc.constantFrom('a', 'b', '\u{1f600}', '\u{1f601}', '\u{1fa00}'), maxLength: 12 });

describe('a splice', () => {
  it('turns one text into the other, and is well formed', () => {
    fc.assert(
      fc.property(text, text, (from, to) => {
        const splice = spliceBetween(from, to);
        expect(splice.middle.isWellFormed()).toBe(true);
        expect(SplicedText.of(from).splice(splice)?.toString()).toBe(to);
      }),
    );
  });

  it('can be applied after other splices, and leaves the earlier texts unchanged', () => {
    fc.assert(
      fc.property(fc.array(text, { minLength: 2 }), (texts) => {
        const spliced = [SplicedText.of(texts[0] as string)];
        for (let i = 1; i < texts.length; i++) {
          const splice = spliceBetween(texts[i - 1] as string, texts[i] as string);
          spliced.push(spliced[i - 1]?.splice(splice) as SplicedText);
        }
        expect(spliced.map(String)).toEqual(texts);
      }),
    );
  });

  it('is rejected by a text that is too short for it', () => {
    expect(SplicedText.of('ab').splice({ prefix: 2, suffix: 1, middle: '' })).toBeNull();
  });
});
