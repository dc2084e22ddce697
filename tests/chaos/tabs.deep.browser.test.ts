import { expect, it } from 'vitest';
import { runTabChaos } from './tab-chaos.ts';

// On a quiet machine: with something else beside it, seconds pass in which a tab has no turn.
const STUCK_MS = 5_000;

it.each(['opfs', 'opfs-exclusive', 'indexeddb'] as const)(
  'a minute of five tabs at random on %s',
  async (persistence) => {
    const seed = Date.now() % 100_000;
    const report = await runTabChaos({ seed, durationMs: 60_000, persistence, stuckMs: STUCK_MS });
    console.info(persistence, seed, JSON.stringify(report));
    expect(report.steps.open).toBeGreaterThan(5);
  },
);
