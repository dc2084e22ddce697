import type { Workload } from '../workload.ts';

/** Searches for notes by a phrase in a scan of every row, and by words in the full-text index. */
export const likeScan: Workload = {
  id: 'L9',
  title: 'LIKE scan of 100,000 rows',
  unit: 'ms',
  thread: 'database',
  repeats: 3,
  isWarm: true,
  async measure(operations) {
    const startMs = performance.now();
    const found = await operations.countNotesLike();
    const tookMs = performance.now() - startMs;
    if (found === 0) throw new Error('the search found no note');
    return tookMs;
  },
};

export const fullTextMatch: Workload = {
  ...likeScan,
  id: 'L9fts',
  title: 'FTS5 match in 100,000 rows',
  async measure(operations) {
    const startMs = performance.now();
    const found = await operations.countNotesMatching();
    const tookMs = performance.now() - startMs;
    if (found === 0) throw new Error('the search found no note');
    return tookMs;
  },
};
