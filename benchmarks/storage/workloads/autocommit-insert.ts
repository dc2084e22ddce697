import { keyValue } from '../dataset.ts';
import type { Operations } from '../operations.ts';
import type { Workload } from '../workload.ts';

const INSERTS = 1000;
const INSERTS_FROM_PAGE = 300;
/** Long enough for a subject that takes milliseconds per insert. */
const ENOUGH_MS = 2_000;

/** Small writes as a user causes them: one row, one transaction, one wait. */
export const autocommitInsert: Workload = {
  id: 'L2',
  title: 'autocommit insert',
  unit: 'µs',
  thread: 'database',
  measure: (operations, { seed }) => insertOneByOne(operations, INSERTS, 1_000_000 * seed),
};

export const autocommitInsertFromPage: Workload = {
  ...autocommitInsert,
  id: 'L2m',
  title: 'autocommit insert, from the page',
  thread: 'page',
  measure: (operations, { seed }) => insertOneByOne(operations, INSERTS_FROM_PAGE, 1_000_000 * seed + INSERTS),
};

async function insertOneByOne(operations: Operations, count: number, firstIndex: number): Promise<number> {
  const rows = Array.from({ length: count }, (_, i) => keyValue(firstIndex + i));
  let done = 0;
  const startMs = performance.now();
  for (const row of rows) {
    const inserted = operations.insertKeyValue(row);
    if (inserted instanceof Promise) await inserted;
    done += 1;
    if (done % 50 === 0 && performance.now() - startMs > ENOUGH_MS) break;
  }
  return ((performance.now() - startMs) * 1000) / done;
}
