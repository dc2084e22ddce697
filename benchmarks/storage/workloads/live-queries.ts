import { keyOf } from '../dataset.ts';
import type { KeyValueRange, Operations } from '../operations.ts';
import { latenciesOf, type Latencies } from './latencies.ts';

const QUERIES = 100;
const TOUCHED = 5;
const ROWS = 20;
const WRITES = 100;
/** The pause between two writes, so that each is delivered by itself. */
const PAUSE_MS = 20;
const TOUCHED_KEY = keyOf(42);

/**
 * 100 live queries on one page over the whole table. Each write changes a row that is in 5 of them; measures the time
 * from the call until all 5 have updated the page.
 */
export async function writeToLiveQueries(operations: Operations): Promise<Latencies> {
  if (operations.watchKeyValues === undefined) throw new Error('this subject has no live queries');
  let waitingFor = QUERIES;
  let allTold: () => void = () => undefined;
  const told = (): void => {
    waitingFor -= 1;
    if (waitingFor === 0) allTold();
  };
  const whenTold = (count: number): Promise<void> => {
    waitingFor = count;
    return new Promise((resolve) => {
      allTold = resolve;
    });
  };

  const first = whenTold(QUERIES);
  const stop = await operations.watchKeyValues(ranges(), told);
  await first;
  const latenciesMs: number[] = [];
  for (let i = 0; i < WRITES; i++) {
    const all = whenTold(TOUCHED);
    const startMs = performance.now();
    await operations.incrementValue(TOUCHED_KEY);
    await all;
    latenciesMs.push(performance.now() - startMs);
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
  stop();
  return latenciesOf(latenciesMs);
}

/**
 * The first few ranges begin with the row that is written; the others are spread over keys that begin with a different
 * digit.
 */
function ranges(): KeyValueRange[] {
  const otherDigits = '0123456789abcdef'.split('').filter((digit) => !TOUCHED_KEY.startsWith(digit));
  return Array.from({ length: QUERIES }, (_, i) => {
    if (i < TOUCHED) return { fromKey: TOUCHED_KEY, limit: ROWS + i };
    return { fromKey: otherDigits[i % otherDigits.length] + String(i), limit: ROWS };
  });
}
