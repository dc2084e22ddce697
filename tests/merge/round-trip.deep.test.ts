import { expect, it } from 'vitest';
import { sendValues, type RoundTripStore } from './round-trip.ts';

it.each<RoundTripStore>(['files', 'PostgreSQL'])(
  '500,000 values of any kind, different ones each day, are the same everywhere as on the first device, or rejected there (%s)',
  async (store) => {
    const seed = Math.floor(Date.now() / 86_400_000) * 10_000;
    const { taken, refused } = await sendValues(500_000, seed, store);
    expect(taken, `seed ${seed}`).toBeGreaterThan(refused);
  },
  30 * 60_000,
);
