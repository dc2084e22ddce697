import { expect, it } from 'vitest';
import { repeatPushes } from '../../testing/repeated-pushes.ts';

it('200,000 pushes that are repeated, divided otherwise and answered into nothing take effect once, other ones each day', async () => {
  const seed = Math.floor(Date.now() / 86_400_000);
  expect(await repeatPushes(10_500, seed), `seed ${seed}`).toBeGreaterThan(200_000);
});
