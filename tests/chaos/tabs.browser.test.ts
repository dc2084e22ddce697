import { expect, it } from 'vitest';
import { runTabChaos } from './tab-chaos.ts';

// Short: `npm run verify:deep` runs a minute of each. A step that takes this long is stuck even on the slowest machine.
const STUCK_MS = 25_000;

it.each(['opfs', 'opfs-exclusive', 'indexeddb'] as const)(
  'five random tabs on %s lose no write, show no partial write, and do not get stuck',
  async (persistence) => {
    const report = await runTabChaos({ seed: 1, durationMs: 5_000, persistence, stuckMs: STUCK_MS });
    console.info(persistence, JSON.stringify(report));
    expect(report.steps.open).toBeGreaterThan(5);
  },
  90_000,
);
