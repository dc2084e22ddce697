import type { Operations } from '../storage/operations.ts';
import type { Sizes } from '../storage/dataset.ts';
import { createHost } from '../page/host.ts';
import { startWorkerHost, type RemoteHost } from '../page/worker-host.ts';
import { ADAPTERS } from './adapters.ts';
import { PARTS, SUBJECTS, type TrySubject } from './subjects.ts';

export interface Measurement {
  readonly workload: string;
  readonly subject: string;
  /** In the unit of the workload; null if the result was wrong or the workload failed. */
  readonly value: number | null;
  readonly error?: string;
}

export interface RunOptions {
  readonly sizes: Sizes;
  readonly rounds: number;
  readonly signal: AbortSignal;
  onProgress(text: string): void;
  onMeasured(measurement: Measurement): void;
}

/** IndexedDB has no counterpart of full-text search and binary documents, so their rows are left out. */
const LACKS = ['L9fts', 'L11b'];
const PREFIX = 'rockpool-bench-';

/**
 * Runs all workloads on all subjects, which take turns; each round begins with a different subject. Removes what it
 * stored.
 */
export async function runAll({ sizes, rounds, signal, onProgress, onMeasured }: RunOptions): Promise<void> {
  await removeStorage();
  try {
    for (let round = 0; round < rounds; round++) {
      for (const { dataset, workloads } of PARTS) {
        for (let turn = 0; turn < SUBJECTS.length; turn++) {
          const subject = SUBJECTS[(round + turn) % SUBJECTS.length] as TrySubject;
          if (signal.aborted) return;
          onProgress(`Round ${round + 1} of ${rounds}: ${subject.name} is filled with data (${dataset})`);
          const opened = await open(subject, `${PREFIX}${subject.adapter}-${dataset}-${round}`);
          try {
            await opened.host.fill(dataset, sizes, LACKS);
            for (const workload of workloads) {
              if (signal.aborted) return;
              onProgress(`Round ${round + 1} of ${rounds}: ${subject.name}, ${workload.title}`);
              for (let time = 0; time < (workload.repeats ?? 1); time++) {
                const of = { workload: workload.id, subject: subject.name };
                try {
                  const value =
                    workload.thread === 'page'
                      ? await workload.measure(remoteOperations(opened.host), { sizes, seed: round + 1 })
                      : await opened.host.measure(workload.id, { sizes, seed: round + 1 });
                  if (time > 0 || workload.isWarm !== true) onMeasured({ ...of, value });
                } catch (error) {
                  onMeasured({ ...of, value: null, error: String(error) });
                }
              }
            }
          } finally {
            await opened.close();
          }
        }
      }
    }
  } finally {
    await removeStorage();
  }
}

interface Opened {
  readonly host: RemoteHost;
  close(): Promise<void>;
}

async function open({ adapter }: TrySubject, database: string): Promise<Opened> {
  const request = { adapter, settings: { medium: 'opfs' }, database, role: 'writer' } as const;
  if (adapter === 'raw-indexeddb') {
    // The API of this subject is on the page.
    const local = createHost(ADAPTERS);
    await local.open(request);
    const call = async (operation: string, args: readonly unknown[]): Promise<unknown> =>
      local.call(operation as keyof Operations, args);
    return { host: { ...local, call }, close: () => local.close() };
  }
  const worker = new Worker(new URL('./worker.ts', import.meta.url), { type: 'module' });
  const host = startWorkerHost(worker);
  const close = async (): Promise<void> => {
    try {
      await host.close();
    } finally {
      worker.terminate();
    }
  };
  try {
    await host.open(request);
  } catch (error) {
    worker.terminate();
    throw error;
  }
  return { host, close };
}

function remoteOperations(host: RemoteHost): Operations {
  return new Proxy({} as Operations, {
    get:
      (_target, operation: string) =>
      (...args: readonly unknown[]) =>
        host.call(operation, args),
  });
}

/**
 * Removes everything that this origin stores. `npm run bench:page` serves only this page, so all of it belongs to the
 * page.
 */
async function removeStorage(): Promise<void> {
  const folder = await navigator.storage.getDirectory();
  const names: string[] = [];
  for await (const name of folder.keys()) names.push(name);
  for (const name of names) await folder.removeEntry(name, { recursive: true }).catch(() => undefined);
  for (const { name } of await indexedDB.databases()) if (name !== undefined) indexedDB.deleteDatabase(name);
}
