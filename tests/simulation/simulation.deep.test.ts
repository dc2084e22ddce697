import { it } from 'vitest';
import { seedOfRun } from '#kit/seed.ts';
import { runSimulation } from './simulation-run.ts';

// Takes hours on a small machine, more than the limit of the test project.
const TIMEOUT_MS = 6 * 60 * 60_000;

it(
  'the simulation passes ten thousand long histories',
  async () => {
    await runSimulation({ name: 'Simulation in depth', first: seedOfRun, histories: 10_000, size: 'deep' });
  },
  TIMEOUT_MS,
);
