import type { Workload } from '../workload.ts';

const ROWS = 50_000;

/** A large result as an app uses it: objects on the page, with every field of every row read. */
export const rowsToPage: Workload = {
  id: 'L6',
  title: '50,000 rows × 6 columns to the page, as objects',
  unit: 'ms',
  thread: 'page',
  repeats: 2,
  isWarm: true,
  async measure(operations, { sizes }) {
    const wanted = Math.min(ROWS, sizes.people);
    const startMs = performance.now();
    const rows = await operations.readPeople(wanted);
    let sum = 0;
    for (const row of rows)
      sum += row.id + row.points + row.balance + row.name.length + row.city.length + row.note.length;
    const tookMs = performance.now() - startMs;
    if (rows.length !== wanted || !(sum > 0))
      throw new Error(`the page has ${rows.length} rows instead of ${wanted}, with the sum ${sum}`);
    return tookMs;
  },
};
