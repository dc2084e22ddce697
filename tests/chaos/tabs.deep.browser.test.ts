import { expect, it } from 'vitest';
import { runTabChaos } from './tab-chaos.ts';

const STUCK_MS = 25_000;

it.each(['opfs', 'opfs-exclusive', 'indexeddb'] as const)(
  'a minute of five tabs at random on %s',
  async (persistence) => {
    const seed = Date.now() % 100_000;
    const report = await runTabChaos({ seed, durationMs: 60_000, persistence, stuckMs: STUCK_MS });
    console.info(persistence, seed, JSON.stringify(report));
    expect(report.steps.open).toBeGreaterThan(5);
  },
);
