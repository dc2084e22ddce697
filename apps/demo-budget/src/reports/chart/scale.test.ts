import { describe, expect, it } from 'vitest';
import { positionIn, scaleOf } from './scale.ts';

describe('the scale of a chart', () => {
  it.each([
    [
      [0, 87_000],
      [0, 50_000, 100_000],
    ],
    [[120], [0, 50, 100, 150]],
    [
      [-3_100, 9_000],
      [-5_000, 0, 5_000, 10_000],
    ],
    [[], [0, 1]],
    [
      [0, 0],
      [0, 1],
    ],
  ])('has its gridlines at round amounts for %j', (values, ticks) => {
    expect(scaleOf(values).ticks).toEqual(ticks);
  });

  it('maps values between its ends', () => {
    const scale = scaleOf([-50, 100]);
    expect([scale.low, scale.high]).toEqual([-50, 100]);
    expect([-50, 0, 100].map((value) => positionIn(scale, value))).toEqual([0, 1 / 3, 1]);
  });
});
