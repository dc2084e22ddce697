import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import type { Size } from './operations.ts';
import type { SeededBug } from './seeded-bug.ts';
import { Tally } from './tally.ts';
import type { WorkerAnswer, WorkerTask } from './worker.ts';

export interface SeedFailure {
  readonly seed: number;
  readonly failure: string;
}

export interface SeedsRun {
  readonly tally: Tally;
  readonly histories: number;
  readonly failures: readonly SeedFailure[];
  readonly hashes: ReadonlyMap<number, string>;
  readonly seconds: number;
}

export interface RunSeedsOptions {
  readonly seeds: Iterable<number>;
  readonly size: Size;
  readonly bug?: SeededBug;
  /** Stops after this number of failures. Default 1. */
  readonly stopAfter?: number;
  /** Starts no history after this many seconds. Default: no limit. */
  readonly maxSeconds?: number;
  readonly onFailure?: (failure: SeedFailure) => void;
  /** Called after each history with the number of finished ones. */
  readonly onHistory?: (histories: number) => void;
  /** Compares the hash of each seed with an earlier run: the same seed must give the same history. */
  readonly expected?: ReadonlyMap<number, string>;
}

// Most objects of a history are short-lived: a larger young generation saves a tenth of the time.
const YOUNG_MB = 64;

/** Runs histories on all processors. Each worker takes the next seed when it has finished one. */
export async function runSeeds({
  seeds,
  size,
  bug,
  stopAfter = 1,
  maxSeconds = Infinity,
  onFailure,
  onHistory,
  expected,
}: RunSeedsOptions): Promise<SeedsRun> {
  const startMs = performance.now();
  const iterator = seeds[Symbol.iterator]();
  const tally = new Tally();
  const failures: SeedFailure[] = [];
  const hashes = new Map<number, string>();
  const task: WorkerTask = { size, bug: bug ?? null };

  const runWorker = async (): Promise<void> => {
    // A worker without a seed is not started: loading the code takes longer than some histories.
    let first: IteratorResult<number> | null = iterator.next();
    if (first.done === true) return;
    const worker = new Worker(new URL('./worker.ts', import.meta.url), {
      workerData: task,
      execArgv: [],
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MB },
    });
    try {
      await new Promise<void>((resolve, reject) => {
        const next = (): void => {
          const { value, done } =
            failures.length >= stopAfter || performance.now() - startMs > maxSeconds * 1000
              ? { value: 0, done: true }
              : (first ?? iterator.next());
          first = null;
          if (done === true) resolve();
          else worker.postMessage(value);
        };
        worker.on('error', reject);
        worker.on('message', (answer: WorkerAnswer) => {
          tally.include(answer.tally);
          hashes.set(answer.seed, answer.logHash);
          const changed = expected !== undefined && expected.get(answer.seed) !== answer.logHash;
          const failure = answer.failure ?? (changed ? 'the same seed produced another history' : null);
          if (failure !== null) {
            failures.push({ seed: answer.seed, failure });
            onFailure?.({ seed: answer.seed, failure });
          }
          onHistory?.(hashes.size);
          next();
        });
        next();
      });
    } finally {
      await worker.terminate();
    }
  };

  await Promise.all(Array.from({ length: availableParallelism() }, runWorker));
  return {
    tally,
    histories: hashes.size,
    failures: failures.sort((a, b) => a.seed - b.seed),
    hashes,
    seconds: (performance.now() - startMs) / 1000,
  };
}

export function seedsFrom(first: number, count: number): number[] {
  return Array.from({ length: count }, (_, index) => first + index);
}
