import { keyOf, randomIndexes } from '../dataset.ts';
import type { Operations } from '../operations.ts';
import { latenciesOf, type Latencies } from './latencies.ts';

/** How long both tabs run. */
export const TWO_TABS_MS = 3000;
const PAUSE_MS = 10;
const ROWS = 10_000;

/** The tab that writes: one row, one transaction, then a pause. */
export async function writeNowAndThen(operations: Operations, startAtMs: number): Promise<Latencies> {
  return loop(startAtMs, PAUSE_MS, (i) => operations.incrementValue(keyOf((i * 7919) % ROWS)));
}

/** The second tab, which reads rows as fast as possible. */
export async function readInALoop(operations: Operations, startAtMs: number): Promise<Latencies> {
  const keys = randomIndexes(ROWS, ROWS, 9).map(keyOf);
  return loop(startAtMs, 0, (i) => operations.readValue(keys[i % ROWS] as string));
}

async function loop(startAtMs: number, pauseMs: number, step: (i: number) => unknown): Promise<Latencies> {
  await sleep(startAtMs - Date.now());
  const latenciesMs: number[] = [];
  const endMs = performance.now() + TWO_TABS_MS;
  for (let i = 0; performance.now() < endMs; i++) {
    const startMs = performance.now();
    await step(i);
    const tookMs = performance.now() - startMs;
    latenciesMs.push(tookMs);
    if (pauseMs > 0) await sleep(pauseMs - tookMs);
  }
  return latenciesOf(latenciesMs);
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, Math.max(0, ms)));
}
