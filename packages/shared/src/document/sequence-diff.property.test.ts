import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { diffSequences } from './sequence-diff.ts';

const text = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 30 });

function patched(before: string, after: string): string {
  let result = '';
  let at = 0;
  for (const splice of diffSequences(before.length, after.length, (i, j) => before[i] === after[j])) {
    result += before.slice(at, splice.at) + after.slice(splice.from, splice.to);
    at = splice.at + splice.remove;
  }
  return result + before.slice(at);
}

/** Length of the longest common subsequence, by the textbook table. */
function commonLength(a: string, b: string): number {
  let row = new Array<number>(b.length + 1).fill(0);
  for (const x of a) {
    const next = [0];
    for (let j = 1; j <= b.length; j++)
      next[j] = b[j - 1] === x ? (row[j - 1] as number) + 1 : Math.max(row[j] as number, next[j - 1] as number);
    row = next;
  }
  return row[b.length] as number;
}

describe('the difference of two sequences', () => {
  it('turns one into the other', () => {
    fc.assert(fc.property(text, text, (before, after) => void expect(patched(before, after)).toBe(after)));
  });

  it('removes no more than necessary', () => {
    fc.assert(
      fc.property(text, text, (before, after) => {
        const splices = diffSequences(before.length, after.length, (i, j) => before[i] === after[j]);
        expect(splices.reduce((sum, { remove }) => sum + remove, 0)).toBe(before.length - commonLength(before, after));
      }),
    );
  });

  it('replaces the middle as a whole when two long texts have little in common', () => {
    const before = Array.from({ length: 3000 }, (_, i) => String.fromCharCode(0x4e00 + ((i * 7919) % 5000))).join('');
    const after = Array.from({ length: 3000 }, (_, i) => String.fromCharCode(0x4e00 + ((i * 104_729) % 5000))).join('');
    expect(patched(`start${before}end`, `start${after}end`)).toBe(`start${after}end`);
  });
});
