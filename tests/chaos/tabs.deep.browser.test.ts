import { expect, it } from 'vitest';
import { runTabChaos } from './tab-chaos.ts';

// Needs an idle machine: otherwise a tab may get no turn for seconds.
const STUCK_MS = 5_000;

it.each(['opfs', 'opfs-exclusive', 'indexeddb'] as const)(
  'five random tabs on %s make 400 steps each',
  async (persistence) => {
    const seed = Date.now() % 100_000;
    const report = await runTabChaos({ seed, stepsOfEachTab: 400, persistence, stuckMs: STUCK_MS });
    console.info(persistence, seed, JSON.stringify(report));
    expect(report.steps.open).toBeGreaterThan(5);
  },
);
