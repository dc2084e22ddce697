import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { atLevel } from '../support/level.ts';
import type { Regression } from './regression.ts';
import { runHistory } from './run-history.ts';
import { runSimulation } from './simulation-run.ts';

const REGRESSIONS = new URL('./regressions/', import.meta.url);
const regressions = readdirSync(REGRESSIONS).filter((name) => name.endsWith('.json'));

// On two processors that have nothing else to do it takes two minutes. Only a hang should end it.
const TIMEOUT_MS = 60 * 60_000;

describe('the whole stack, simulated', () => {
  it.each(regressions)('stays sound in %s, which once failed', async (name) => {
    const regression = JSON.parse(readFileSync(new URL(name, REGRESSIONS), 'utf8')) as Regression;
    const { failure } = await runHistory(regression);
    expect(failure, regression.why).toBeNull();
  });

  it(
    'never loses, doubles, halves or hides a write, and all replicas end alike, whatever fails, dies, lies about the time or comes twice',
    async () => {
      await runSimulation({
        name: 'Simulation',
        first: 1,
        histories: atLevel({ test: 100, verify: 300 }),
        size: 'quick',
      });
    },
    TIMEOUT_MS,
  );
});
