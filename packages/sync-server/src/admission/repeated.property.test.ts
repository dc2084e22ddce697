import { expect, it } from 'vitest';
import { atLevel } from '../../../../tests/kit/level.ts';
import { seedOfRun } from '../../../../tests/kit/seed.ts';
import { repeatPushes } from '../../testing/repeated-pushes.ts';

it('pushes that are repeated, are regrouped or get no response take effect once, with the same outcomes', async () => {
  const { histories, pushes } = atLevel({
    test: { histories: 35, pushes: 500 },
    verify: { histories: 320, pushes: 5_000 },
  });
  expect(await repeatPushes(histories, seedOfRun), `seed ${seedOfRun}`).toBeGreaterThan(pushes);
});
