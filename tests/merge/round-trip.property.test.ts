import { expect, it } from 'vitest';
import { sendValues } from './round-trip.ts';

it('10,000 values of any kind are on the server and on another device what they were on the first, or are refused there', { timeout: 120_000 }, async () => {
  const { taken, refused } = await sendValues(10_000, 1);
  expect(taken).toBeGreaterThan(refused);
  expect(refused).toBeGreaterThan(100);
});
