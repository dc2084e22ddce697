import type { Operations } from '../operations.ts';
import type { Workload } from '../workload.ts';

/** A filter on two fields of every document, as JSON text and in SQLite's binary form. */
export const jsonTextFilter: Workload = {
  id: 'L11',
  title: 'filter 20,000 JSON documents, text',
  unit: 'ms',
  thread: 'database',
  repeats: 3,
  isWarm: true,
  measure: (operations) => countTimed(() => operations.countOpenDocuments()),
};

export const jsonBinaryFilter: Workload = {
  ...jsonTextFilter,
  id: 'L11b',
  title: 'filter 20,000 JSON documents, binary',
  measure: (operations) => countTimed(() => operations.countOpenBinaryDocuments()),
};

async function countTimed(count: () => ReturnType<Operations['countOpenDocuments']>): Promise<number> {
  const startMs = performance.now();
  const found = await count();
  const tookMs = performance.now() - startMs;
  if (found === 0) throw new Error('the query found no document');
  return tookMs;
}
