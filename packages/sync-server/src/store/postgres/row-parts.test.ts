import { expect, it } from 'vitest';
import { inParts, PART_BYTES } from './row-parts.ts';

async function sizes(rows: readonly string[], maxRows: number): Promise<number[]> {
  const found: number[] = [];
  for await (const part of inParts(rows, maxRows, (row) => [row])) found.push(part.length);
  return found;
}

it('groups rows into parts with a limited number of rows and of bytes, none of them empty', async () => {
  const half = 'x'.repeat(PART_BYTES / 2);
  expect(await sizes(Array<string>(5).fill('x'), 2)).toEqual([2, 2, 1]);
  expect(await sizes(Array<string>(4).fill('x'), 2)).toEqual([2, 2]);
  expect(await sizes(Array<string>(5).fill(half), 100)).toEqual([2, 2, 1]);
  expect(await sizes([`${half}${half}`, 'x', 'x'], 100)).toEqual([1, 2]);
  expect(await sizes([], 2)).toEqual([]);
});
