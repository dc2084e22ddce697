import { it } from 'vitest';
import { runSimulation } from './simulation-run.ts';

// Hours on a small machine; the test project's own limit is for less.
const TIMEOUT_MS = 6 * 60 * 60_000;

it(
  'stays sound in ten thousand long histories',
  async () => {
    await runSimulation({ name: 'Simulation in depth', first: 1_000_000, histories: 10_000, size: 'deep' });
  },
  TIMEOUT_MS,
);
