import fc from 'fast-check';
import { expect, it } from 'vitest';
import { isPosition, positionBetween } from './position.ts';

it('there is always a position between two others, in any order of insertion', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(), { maxLength: 200 }), (places) => {
      const positions: string[] = [];
      for (const place of places) {
        const at = place % (positions.length + 1);
        const between = positionBetween(positions[at - 1] ?? null, positions[at] ?? null);
        expect(isPosition(between)).toBe(true);
        positions.splice(at, 0, between);
      }
      expect(positions).toEqual([...positions].sort());
      expect(new Set(positions).size).toBe(positions.length);
    }),
  );
});

it('positions at either end stay short', () => {
  let first = positionBetween(null, null);
  let last = first;
  for (let i = 0; i < 10_000; i++) {
    first = positionBetween(null, first);
    last = positionBetween(last, null);
  }
  expect([first.length, last.length]).toEqual([6, 6]);
});
