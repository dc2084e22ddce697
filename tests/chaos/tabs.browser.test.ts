import { expect, it } from 'vitest';
import { runTabChaos } from './tab-chaos.ts';

// Short: `npm run verify:deep` has a minute of each. A step that takes this long on the slowest machine is stuck.
const STUCK_MS = 25_000;

it.each(['opfs', 'opfs-exclusive', 'indexeddb'] as const)(
  'five tabs at random on %s lose no write, show no half of one, and none gets stuck',
  async (persistence) => {
    const report = await runTabChaos({ seed: 1, durationMs: 5_000, persistence, stuckMs: STUCK_MS });
    console.info(persistence, JSON.stringify(report));
    expect(report.steps.open).toBeGreaterThan(5);
  },
  90_000,
);
