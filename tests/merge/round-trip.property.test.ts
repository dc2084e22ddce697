import { expect, it } from 'vitest';
import { sendValues, type RoundTripStore } from './round-trip.ts';

it.each<RoundTripStore>(['files', 'PostgreSQL'])('10,000 values of any kind are on a server that decides for %s and on another device what they were on the first, or are refused there', { timeout: 120_000 }, async (store) => {
  const { taken, refused } = await sendValues(10_000, 1, store);
  expect(taken).toBeGreaterThan(refused);
  expect(refused).toBeGreaterThan(100);
});
