import { expect, it } from 'vitest';
import { atLevel } from '#kit/level.ts';
import { seedOfRun } from '#kit/seed.ts';
import { sendValues, type RoundTripStore } from './round-trip.ts';

it.each<RoundTripStore>(atLevel({ test: ['files'], verify: ['files', 'PostgreSQL'] }))(
  'any value is the same on the first device, on a server for %s and on another device, or is rejected on the first device [VK-03]',
  async (store) => {
    const { taken, refused } = await sendValues(atLevel({ test: 1_200, verify: 10_000 }), seedOfRun, store);
    expect(taken, `seed ${seedOfRun}`).toBeGreaterThan(refused);
    expect(refused).toBeGreaterThan(atLevel({ test: 12, verify: 100 }));
  },
);
