import { entry, person, type Entry, type Sizes } from '../dataset.ts';
import type { Operations } from '../operations.ts';
import { expectEqual, type Workload } from '../workload.ts';

const CATEGORY = 3;
const MOST = 10;

/** A query over all entries, without an index to help. */
function entryQuery<Answer>(
  id: string,
  title: string,
  ask: (operations: Operations) => Answer | Promise<Answer>,
  check: (answer: Answer, sizes: Sizes) => void,
): Workload {
  return {
    id,
    title: `${title}, 300,000 rows`,
    unit: 'ms',
    thread: 'database',
    repeats: 3,
    isWarm: true,
    async measure(operations, { sizes }) {
      const startMs = performance.now();
      const answer = await ask(operations);
      const tookMs = performance.now() - startMs;
      check(answer, sizes);
      return tookMs;
    },
  };
}

export const countEntries = entryQuery(
  'Q1',
  'count',
  (operations) => operations.countEntries(),
  (count, sizes) => expectEqual('entries', count, sizes.entries),
);

export const sumOfCategory = entryQuery(
  'Q2',
  'filter and sum',
  (operations) => operations.sumOfCategory(CATEGORY),
  (total, sizes) => {
    let wanted = 0;
    for (const [, , , category, amount] of entriesOf(sizes)) if (category === CATEGORY) wanted += amount;
    // Not all subjects add in the same order.
    expectEqual('total', Math.round(total), Math.round(wanted));
  },
);

export const largestEntries = entryQuery(
  'Q3',
  'the ten largest amounts',
  (operations) => operations.largestEntries(MOST),
  (ids, sizes) => {
    const sorted = entriesOf(sizes).toSorted((a, b) => b[4] - a[4] || a[0] - b[0]);
    for (let place = 0; place < MOST; place++) expectEqual('id', ids[place] ?? -1, sorted[place]?.[0] ?? -1);
  },
);

export const sumByCity = entryQuery(
  'Q4',
  'join, and sum by city',
  (operations) => operations.sumByCity(),
  (cities, sizes) => {
    const accounts = new Set(entriesOf(sizes).map(([, , account]) => account));
    expectEqual('cities', cities, new Set([...accounts].map((account) => person(account)[2])).size);
  },
);

export const ENTRY_QUERIES = [countEntries, sumOfCategory, largestEntries, sumByCity] as const;

let made: readonly Entry[] = [];

function entriesOf({ entries }: Sizes): readonly Entry[] {
  if (made.length !== entries) made = Array.from({ length: entries }, (_, index) => entry(index));
  return made;
}
