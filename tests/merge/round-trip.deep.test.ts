import { expect, it } from 'vitest';
import { sendValues } from './round-trip.ts';

it('1,000,000 values of any kind, other ones each day, are everywhere what they were on the first device, or are refused there', async () => {
  const seed = Math.floor(Date.now() / 86_400_000) * 10_000;
  const { taken, refused } = await sendValues(1_000_000, seed);
  expect(taken, `seed ${seed}`).toBeGreaterThan(refused);
}, 30 * 60_000);
