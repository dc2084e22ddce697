import fc from 'fast-check';
import { expect, it } from 'vitest';
import { hasRoomBefore, isPosition, positionBetween, positionsBetween } from './position.ts';

it('there is always a position between two others, in any order of insertion', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(), { maxLength: 200 }), (places) => {
      const positions: string[] = [];
      for (const place of places) {
        const at = place % (positions.length + 1);
        const between = positionBetween(positions[at - 1] ?? null, positions[at] ?? null);
        expect(isPosition(between) && hasRoomBefore(between)).toBe(true);
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

it('many positions between two others are in order, and stay short', () => {
  const first = positionBetween(null, null);
  const second = positionBetween(first, null);
  for (const [left, right, length] of [
    [first, second, 9],
    [null, first, 9],
    [first, null, 6],
    [null, null, 6],
  ] as const) {
    const positions = positionsBetween(left, right, 10_000);
    const all = [...(left === null ? [] : [left]), ...positions, ...(right === null ? [] : [right])];
    expect(all.every((place, index) => index === 0 || (all[index - 1] as string) < place)).toBe(true);
    expect(positions.every((place) => isPosition(place) && hasRoomBefore(place))).toBe(true);
    expect([positions.length, Math.max(...positions.map((place) => place.length))]).toEqual([10_000, length]);
  }
});

it('there is a position on either side of every position that an author may choose', () => {
  const digit = fc.constantFrom('0', '1', 'V', 'y', 'z');
  const position = fc.array(digit, { minLength: 6, maxLength: 9 }).map((digits) => digits.join(''));
  fc.assert(
    fc.property(position.filter(hasRoomBefore), (place) => {
      const [before, after] = [positionBetween(null, place), positionBetween(place, null)];
      expect([before, after].every((made) => isPosition(made) && hasRoomBefore(made))).toBe(true);
      expect(before < place && place < after).toBe(true);
    }),
  );
});

it('there is a position before an element that an earlier version stored at the very first position', () => {
  expect(isPosition(positionBetween(null, '000000'))).toBe(true);
});
