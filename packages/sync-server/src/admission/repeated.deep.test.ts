import { expect, it } from 'vitest';
import { repeatPushes } from '../../testing/repeated-pushes.ts';

it('pushes that are repeated, regrouped and unanswered take effect once: 200,000 of them, with a new seed each day', async () => {
  const seed = Math.floor(Date.now() / 86_400_000);
  expect(await repeatPushes(10_500, seed), `seed ${seed}`).toBeGreaterThan(200_000);
});
