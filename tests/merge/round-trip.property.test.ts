import { expect, it } from 'vitest';
import { atLevel } from '../support/level.ts';
import { sendValues, type RoundTripStore } from './round-trip.ts';

it.each<RoundTripStore>(['files', 'PostgreSQL'])(
  'values of any kind are on a server that decides for %s and on another device what they were on the first, or are refused there',
  { timeout: 120_000 },
  async (store) => {
    const { taken, refused } = await sendValues(atLevel({ test: 3_000, verify: 10_000 }), 1, store);
    expect(taken).toBeGreaterThan(refused);
    expect(refused).toBeGreaterThan(atLevel({ test: 30, verify: 100 }));
  },
);
