import { expect, it } from 'vitest';
import { seedOfRun } from '#kit/seed.ts';
import { sendValues, type RoundTripStore } from './round-trip.ts';

it.each<RoundTripStore>(['files', 'PostgreSQL'])(
  '500,000 values of any kind are the same everywhere as on the first device, or are rejected there (%s)',
  async (store) => {
    const { taken, refused } = await sendValues(500_000, seedOfRun, store);
    expect(taken, `seed ${seedOfRun}`).toBeGreaterThan(refused);
  },
  30 * 60_000,
);
