import { keyOf, randomIndexes, valueOf } from '../dataset.ts';
import type { Operations } from '../operations.ts';
import type { Conditions, Workload } from '../workload.ts';

const READS = 10_000;
const READS_FROM_PAGE = 2_000;
/** Long enough for a subject that takes a millisecond per read. */
const ENOUGH_MS = 2_000;

/** Reads rows by their key, in random order, with one statement each. */
export const pointRead: Workload = {
  id: 'L5',
  title: 'point read',
  unit: 'µs',
  thread: 'database',
  measure: (operations, conditions) => readOneByOne(operations, conditions, READS),
};

export const pointReadFromPage: Workload = {
  ...pointRead,
  id: 'L5m',
  title: 'point read, one at a time from the page',
  thread: 'page',
  measure: (operations, conditions) => readOneByOne(operations, conditions, READS_FROM_PAGE),
};

async function readOneByOne(operations: Operations, { sizes, seed }: Conditions, most: number): Promise<number> {
  const indexes = randomIndexes(Math.min(most, sizes.keyValues), sizes.keyValues, seed);
  const keys = indexes.map(keyOf);
  let sum = 0;
  let count = 0;
  const startMs = performance.now();
  for (const key of keys) {
    const value = operations.readValue(key);
    sum += value instanceof Promise ? await value : value;
    count += 1;
    if (count % 100 === 0 && performance.now() - startMs > ENOUGH_MS) break;
  }
  const tookMs = performance.now() - startMs;
  const least = indexes.slice(0, count).reduce((total, index) => total + valueOf(index), 0);
  // Random updates have since added whole numbers to the values.
  if (!(sum > least - 1 && sum < least + 1_000_000))
    throw new Error(`the sum of the values read is ${sum} instead of about ${least}`);
  return (tookMs * 1000) / count;
}
