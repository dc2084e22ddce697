import { RANGE } from '../dataset.ts';
import { expectEqual, type Workload } from '../workload.ts';

/** A report: entries of one year by month, without an index to help. */
export const groupByMonth: Workload = {
  id: 'L10',
  title: 'GROUP BY month with a range of days, 300,000 rows',
  unit: 'ms',
  thread: 'database',
  repeats: 3,
  isWarm: true,
  async measure(operations) {
    const startMs = performance.now();
    const months = await operations.groupByMonth(RANGE.from, RANGE.to);
    const tookMs = performance.now() - startMs;
    expectEqual('months', months, 12);
    return tookMs;
  },
};
