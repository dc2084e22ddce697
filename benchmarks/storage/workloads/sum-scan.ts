import { valueOf, type Sizes } from '../dataset.ts';
import type { Workload } from '../workload.ts';

/** SUM over the whole key-value table, first in a new browser, then again. */
export const sumScanCold: Workload = {
  id: 'L4c',
  title: 'SUM over 100,000 rows, cold',
  unit: 'ms',
  thread: 'database',
  async measure(operations, { sizes }) {
    const startMs = performance.now();
    const sum = await operations.sumValues();
    const tookMs = performance.now() - startMs;
    expectSum(sum, sizes);
    return tookMs;
  },
};

export const sumScanWarm: Workload = { ...sumScanCold, id: 'L4w', title: 'SUM over 100,000 rows, warm', repeats: 5 };

// Random updates (L7) have added some whole numbers since the rows were made, a million at most.
function expectSum(sum: number, sizes: Sizes): void {
  let least = 0;
  for (let i = 0; i < sizes.keyValues; i++) least += valueOf(i);
  if (!(sum > least - 1 && sum < least + 1_000_000)) throw new Error(`the sum is ${sum} instead of about ${least}`);
}
