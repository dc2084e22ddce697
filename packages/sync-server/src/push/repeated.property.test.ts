import { expect, it } from 'vitest';
import { repeatPushes } from '../testing/repeated-pushes.ts';

it('pushes that are repeated, divided otherwise and answered into nothing take effect once, and are answered in the same way', { timeout: 120_000 }, async () => {
  expect(await repeatPushes(260, 1)).toBeGreaterThan(5_000);
});
