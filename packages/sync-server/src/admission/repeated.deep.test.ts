import { expect, it } from 'vitest';
import { repeatPushes } from '../../testing/repeated-pushes.ts';

it('200,000 repeated, regrouped and unanswered pushes take effect once, with a new seed each day', async () => {
  const seed = Math.floor(Date.now() / 86_400_000);
  expect(await repeatPushes(10_500, seed), `seed ${seed}`).toBeGreaterThan(200_000);
});
