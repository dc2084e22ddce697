import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { atLevel } from '../../../../tests/kit/level.ts';
import { diffText, type TextChange } from './text-diff.ts';

function changed(text: string, changes: readonly TextChange[]): string {
  return changes.reduceRight((made, { at, removed, inserted }) => {
    expect(made.slice(at, at + removed.length)).toBe(removed);
    return made.slice(0, at) + inserted + made.slice(at + removed.length);
  }, text);
}

const weight = (changes: readonly TextChange[]): number =>
  changes.reduce((sum, { removed, inserted }) => sum + removed.length + inserted.length, 0);
const isCut = (text: string): boolean => !text.isWellFormed();

/** Long texts that repeat themselves, with and without characters of two units. */
const word = fc.constantFrom('the tide ', 'comes in ', '🌊', 'é', 'and goes ', '\n', 'x');
const long = fc.array(word, { maxLength: 400 }).map((words) => words.join(''));
const paragraph = fc
  .integer({ min: 0, max: 1_000_000 })
  .map((n) => `${n}: ${'a line of its own '.repeat(1 + (n % 9))}${n}\n`);

describe('the difference of two texts', () => {
  it('turns one into the other, from left to right, and cuts no character', () => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof(long, paragraph), { maxLength: 6 }),
        fc.array(fc.oneof(long, paragraph), { maxLength: 6 }),
        fc.array(fc.nat({ max: 5 })),
        (oldChars, newChars, kept) => {
          const before = oldChars.join('');
          const after = [...kept.map((index) => oldChars[index] ?? ''), ...newChars].join('');
          const changes = diffText(before, after);
          expect(changed(before, changes)).toBe(after);
          expect(changes.filter(({ removed, inserted }) => isCut(removed) || isCut(inserted))).toEqual([]);
          expect(changes.every(({ at }, index) => index === 0 || at > (changes[index - 1] as TextChange).at)).toBe(
            true,
          );
        },
      ),
      { numRuns: atLevel({ test: 120, verify: 300 }) },
    );
  });

  it('keeps long common stretches, however much is inserted and removed around them', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.integer({ min: 0, max: 1_000_000 }), { minLength: 60, maxLength: 100 }),
        fc.nat({ max: 59 }),
        (numbers, cut) => {
          // Neighbouring lines differ in most digits: the common part of two lines must not be long enough to count as
          // unchanged.
          const lines = numbers
            .map((n) => Math.imul(n + 1, 0x9e3779b1) >>> 0)
            .map((n) => `${n} stands in a line of its own, which is that of ${n}\n`);
          const before = lines.slice(20).join('');
          // Each insertion takes more edits than diffSequences searches for.
          const [first, second] = [lines.slice(0, 10).join(''), lines.slice(10, 20).join('')];
          const place = before.indexOf('\n', (before.length * cut) / 60) + 1;
          const after = `${first}${before.slice(0, place)}${second}${before.slice(place)}!`;
          // A common segment that is shorter than an anchor may count as a part of an adjacent insertion, so the
          // difference may be up to half as long again as the insertions. Replacing the whole text would cost far more.
          expect(weight(diffText(before, after))).toBeLessThan(1.5 * (first.length + second.length));
        },
      ),
      { numRuns: atLevel({ test: 60, verify: 200 }) },
    );
  });
});
