import { expect, it } from 'vitest';
import { memoryWriter } from '../../testing/memory-writer.ts';
import { containing } from './text-pattern.ts';

const writer = memoryWriter();
const isIn = (text: string, whole: string): boolean =>
  writer.rows<{ found: 0 | 1 }>('SELECT ? GLOB ? AS found', [whole, containing(text)])[0]?.found === 1;

it.each([
  ['spar', 'Mein SPARKONTO'],
  ['ÜLL', 'Bäckerei müller'],
  ['ван', 'ИВАН'],
  ['οδός', 'ΟΔΌΣ'],
  ['straße', 'Hauptstraße 1'],
  ['a\nb', 'A\nB'],
  ['', ''],
  ['[^a]*?-]', 'x [^A]*?-] y'],
])('a pattern finds %j in %j', (text, whole) => {
  expect(isIn(text, whole)).toBe(true);
});

it.each([
  ['*', 'abc'],
  ['?', 'a'],
  ['[a-c]', 'b'],
  ['^a', 'b'],
  ['eron', 'er on'],
])('a pattern does not find %j in %j', (text, whole) => {
  expect(isIn(text, whole)).toBe(false);
});

it('a pattern made from a pasted page is not too long for SQLite', () => {
  expect(isIn('ǆ'.repeat(100_000), 'ǆ')).toBe(false);
});
