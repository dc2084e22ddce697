import { expect, it } from 'vitest';
import { seedOfRun } from '#kit/seed.ts';
import { runTabChaos } from './tab-chaos.ts';

it.each(['opfs', 'opfs-exclusive', 'indexeddb'] as const)(
  'five random tabs on %s make 400 steps each',
  async (persistence) => {
    const report = await runTabChaos({ seed: seedOfRun, stepsOfEachTab: 400, persistence });
    console.info(persistence, seedOfRun, JSON.stringify(report));
    expect(report.steps.open).toBeGreaterThan(5);
  },
);
