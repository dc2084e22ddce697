import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { atLevel } from '#kit/level.ts';
import type { Regression } from './regression.ts';
import { runHistory } from './run-history.ts';
import { runSimulation } from './simulation-run.ts';
import type { SizeName } from './sizes.ts';

const REGRESSIONS = new URL('./regressions/', import.meta.url);
const regressions = readdirSync(REGRESSIONS).filter((name) => name.endsWith('.json'));

function readRegression(name: string): Regression {
  return JSON.parse(readFileSync(new URL(name, REGRESSIONS), 'utf8')) as Regression;
}

/** Seed 11 has a session that ends as a slow consumer, and seed 84 a crash in the merge of a branch. */
const DIRECTED = [11, 84] as const;

// Takes two minutes on two idle processors. Only a hang should end it.
const TIMEOUT_MS = 60 * 60_000;

describe('the whole stack, simulated', () => {
  // First, before another history has loaded the code.
  it('gives the same history again after it has loaded code that the client loads on first use', async () => {
    const overHttp = readRegression('request-repeated-by-a-browser.json');
    const [first, second] = [await runHistory(overHttp), await runHistory(overHttp)];
    expect(second.tally).toEqual(first.tally);
    expect(second.logHash).toBe(first.logHash);
  });

  it.each(regressions)('passes %s, which once failed', async (name) => {
    const regression = readRegression(name);
    const { failure } = await runHistory(regression);
    expect(failure, regression.why).toBeNull();
  });

  it(
    'never loses, doubles, splits or hides a write, and all replicas converge, under crashes, faults, wrong clocks and duplicated messages',
    async () => {
      await runSimulation({
        name: 'Simulation',
        first: 1,
        histories: atLevel({ test: 100, verify: 300 }),
        size: atLevel<SizeName>({ test: 'short', verify: 'quick' }),
        directed: atLevel<readonly number[]>({ test: DIRECTED, verify: [] }),
      });
    },
    TIMEOUT_MS,
  );
});
