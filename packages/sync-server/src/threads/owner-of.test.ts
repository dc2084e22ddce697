import { expect, it } from 'vitest';
import { ownerOf } from './owner-of.ts';

const IDS = Array.from({ length: 4_000 }, (_, i) => `household-${i}`);

it('ownerOf divides databases evenly between threads', () => {
  for (const count of [1, 2, 3, 4, 16]) {
    const owned = new Array<number>(count).fill(0);
    for (const id of IDS) owned[ownerOf(id, count)] = (owned[ownerOf(id, count)] ?? 0) + 1;
    for (const share of owned) {
      expect(share).toBeGreaterThan((0.75 * IDS.length) / count);
      expect(share).toBeLessThan((1.25 * IDS.length) / count);
    }
  }
});

it('ownerOf moves databases only to a thread that is added', () => {
  const moved = IDS.filter((id) => ownerOf(id, 4) !== ownerOf(id, 5));
  expect(moved.map((id) => ownerOf(id, 5))).toEqual(moved.map(() => 4));
  expect(moved.length).toBeLessThan(0.25 * IDS.length);
});
