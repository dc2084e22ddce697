import { registerHooks } from 'node:module';
import { parentPort, workerData } from 'node:worker_threads';
import type { Plan, Size } from './operations.ts';
import type { Result } from './run-history.ts';
import { editsOf, withEdit, type SeededBug } from './seeded-bug.ts';

/** The task of a worker: runs seeds one after another until none are left. */
export interface WorkerTask {
  readonly size: Size;
  readonly bug: SeededBug | null;
}

export interface WorkerAnswer extends Omit<Result, 'log' | 'stepsTaken'> {
  readonly seed: number;
}

const { size, bug } = workerData as WorkerTask;

// The fault is put in before the first module of the simulation is loaded, because the product has no hook for it.
if (bug !== null) {
  const missing = new Set(editsOf(bug));
  registerHooks({
    load(url, context, nextLoad) {
      const loaded = nextLoad(url, context);
      let source: string | null = null;
      for (const edit of missing) {
        if (!url.endsWith(edit.file)) continue;
        source ??= String(typeof loaded.source === 'string' ? loaded.source : Buffer.from(loaded.source as Uint8Array));
        source = withEdit(source, edit);
        missing.delete(edit);
      }
      return source === null ? loaded : { ...loaded, source };
    },
  });
  await import('./run-history.ts');
  // Devices load it when they open.
  await import('#client/worker/changelog/changelog-code.ts');
  for (const { file } of missing) throw new Error(`${bug.name}: ${file} is not part of the simulation`);
}

const { planHistory } = await import('./operations.ts');
const { runHistory } = await import('./run-history.ts');

parentPort?.on('message', (seed: number) => {
  void (async () => {
    const plan: Plan = planHistory(seed, size);
    const { tally, logHash, failure } = await runHistory(plan);
    parentPort?.postMessage({ seed, tally, logHash, failure } satisfies WorkerAnswer);
  })();
});
