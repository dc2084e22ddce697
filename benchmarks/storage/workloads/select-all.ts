import { expectEqual, type Workload } from '../workload.ts';

/** Selects all of a million inserted rows, twice. */
export const selectAll: Workload = {
  id: 'L3bSelect1',
  title: 'select 1,000,000 rows',
  unit: 's',
  thread: 'database',
  async measure(operations, { sizes }) {
    const startMs = performance.now();
    const count = await operations.readKeyValues();
    const tookMs = performance.now() - startMs;
    expectEqual('rows', count, sizes.keyValues * 10);
    return tookMs / 1000;
  },
};

export const selectAllAgain: Workload = { ...selectAll, id: 'L3bSelect2', title: 'select 1,000,000 rows, again' };
