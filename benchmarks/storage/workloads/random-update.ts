import { keyOf, randomIndexes } from '../dataset.ts';
import type { Workload } from '../workload.ts';

const UPDATES = 10_000;

/** Random keys: nearly every page of the table is touched. */
export const randomUpdate: Workload = {
  id: 'L7',
  title: '10,000 random updates in one transaction',
  unit: 'ms',
  thread: 'database',
  async measure(operations, { sizes, seed }) {
    const keys = randomIndexes(Math.min(UPDATES, sizes.keyValues), sizes.keyValues, seed).map(keyOf);
    const before = await operations.sumValues();
    const startMs = performance.now();
    await operations.incrementValues(keys);
    const tookMs = performance.now() - startMs;
    const added = (await operations.sumValues()) - before;
    if (Math.abs(added - keys.length) > 0.5) throw new Error(`the updates added ${added} instead of ${keys.length}`);
    return tookMs;
  },
};

export const randomUpdateFromPage: Workload = {
  ...randomUpdate,
  id: 'L7m',
  title: '10,000 random updates in one transaction, from the page',
  thread: 'page',
};
