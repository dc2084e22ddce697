import { keyValue } from '../dataset.ts';
import type { Operations } from '../operations.ts';
import { expectEqual, type Workload } from '../workload.ts';

/** An import: many rows in one transaction, into an empty table whose key is random. */
export const bulkInsert: Workload = {
  id: 'L3',
  title: 'insert 100,000 rows in one transaction',
  unit: 'ms',
  thread: 'database',
  measure: (operations, { sizes }) => insertAll(operations, sizes.keyValues),
};

export const hugeInsert: Workload = {
  id: 'L3b',
  title: 'insert 1,000,000 rows in one transaction',
  unit: 's',
  thread: 'database',
  measure: async (operations, { sizes }) => (await insertAll(operations, sizes.keyValues * 10)) / 1000,
};

/** An import through the page: its rows are sent in one message, or by the subject's own method for many rows. */
export const bulkInsertFromPage: Workload = {
  ...bulkInsert,
  id: 'L3m',
  title: 'insert 100,000 rows in one transaction, from the page',
  thread: 'page',
};

export const insertsFromPage: Workload = {
  ...bulkInsertFromPage,
  id: 'inserts',
  title: '20,000 inserts in one transaction, from the page',
  measure: (operations, { sizes }) => insertAll(operations, sizes.keyValues / 5),
};

async function insertAll(operations: Operations, count: number): Promise<number> {
  const rows = Array.from({ length: count }, (_, i) => keyValue(i));
  const startMs = performance.now();
  await operations.insertKeyValues(rows);
  const tookMs = performance.now() - startMs;
  expectEqual('rows', await operations.countKeyValues(), count);
  return tookMs;
}
