import { expect, it } from 'vitest';
import { atLevel } from '#kit/level.ts';
import { seedOfRun } from '#kit/seed.ts';
import { runTabChaos } from './tab-chaos.ts';

const STEPS_OF_EACH_TAB = atLevel({ test: 12, verify: 60 });

it.each(atLevel({ test: ['opfs'], verify: ['opfs', 'opfs-exclusive', 'indexeddb'] } as const))(
  'five random tabs on %s lose no write, show no partial write, and do not get stuck',
  async (persistence) => {
    const report = await runTabChaos({
      seed: seedOfRun,
      stepsOfEachTab: STEPS_OF_EACH_TAB,
      persistence,
    });
    console.info(persistence, JSON.stringify(report));
    expect(report.steps.open).toBeGreaterThan(5);
  },
);
