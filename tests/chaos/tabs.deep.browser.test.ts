import { expect, it } from 'vitest';
import { seedOfRun } from '#kit/seed.ts';
import { runTabChaos } from './tab-chaos.ts';

// Needs an idle machine: otherwise a tab may get no processor time for seconds.
const STUCK_MS = 5_000;

it.each(['opfs', 'opfs-exclusive', 'indexeddb'] as const)(
  'five random tabs on %s make 400 steps each',
  async (persistence) => {
    const report = await runTabChaos({ seed: seedOfRun, stepsOfEachTab: 400, persistence, stuckMs: STUCK_MS });
    console.info(persistence, seedOfRun, JSON.stringify(report));
    expect(report.steps.open).toBeGreaterThan(5);
  },
);
