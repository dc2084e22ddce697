import { expect, it } from 'vitest';
import { seedOfRun } from '../../../../tests/kit/seed.ts';
import { repeatPushes } from '../../testing/repeated-pushes.ts';

it('pushes that are repeated, are regrouped or get no response take effect once: 200,000 of them, with a new seed each run', async () => {
  expect(await repeatPushes(10_500, seedOfRun), `seed ${seedOfRun}`).toBeGreaterThan(200_000);
});
