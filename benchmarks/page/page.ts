// The page that the runner controls: one database at a time, of any subject.
import type { DocumentFigure } from '../documents/measure.ts';
import type { Operations } from '../storage/operations.ts';
import { ADAPTERS, ON_PAGE } from '../storage/subjects.ts';
import { keyOf } from '../storage/dataset.ts';
import { writeToLiveQueries } from '../storage/workloads/live-queries.ts';
import { readInALoop, writeNowAndThen } from '../storage/workloads/two-tabs.ts';
import { WORKLOADS } from '../storage/workloads.ts';
import type { BenchPage } from './bench-page.ts';
import { obey } from './obey.ts';
import { createHost, type Host } from './host.ts';
import { startWorkerHost, type RemoteHost } from './worker-host.ts';

declare global {
  interface Window {
    bench?: BenchPage;
  }
}

let host: RemoteHost | undefined;
let localHost: Host | undefined;
let worker: Worker | undefined;

const bench: BenchPage = {
  async open(request, readsFirstRow) {
    // Code that the page needs anyway is not part of opening a database.
    if (ON_PAGE.has(request.adapter) && request.adapter !== 'node-sqlite') await ADAPTERS[request.adapter]();
    const prepareWorker =
      request.adapter === 'absurd-sql'
        ? (await import('../storage/adapters/absurd-sql-page.ts')).initBackend
        : () => undefined;
    const startMs = performance.now();
    if (ON_PAGE.has(request.adapter)) {
      const local = (localHost = createHost(ADAPTERS));
      host = { ...local, call: async (operation, args) => local.call(operation as keyof Operations, args) };
    } else {
      worker = new Worker(new URL('./worker.ts', import.meta.url), { type: 'module' });
      host = startWorkerHost(worker, prepareWorker);
    }
    await host.open(request);
    if (readsFirstRow) await host.call('readValue', [keyOf(42)]);
    return performance.now() - startMs;
  },
  fill: (dataset, sizes, lacks) => opened().fill(dataset, sizes, lacks),
  measure(workloadId, conditions) {
    const workload = WORKLOADS.get(workloadId);
    return workload?.thread === 'page'
      ? workload.measure(remoteOperations(opened()), conditions)
      : opened().measure(workloadId, conditions);
  },
  loop: (part, startAtMs) => (part === 'write' ? writeNowAndThen : readInALoop)(remoteOperations(opened()), startAtMs),
  async liveQueries() {
    if (localHost === undefined) throw new Error('this subject does not run on the page');
    return writeToLiveQueries(localHost.operations());
  },
  async measureDocuments(...request) {
    const documents = new Worker(new URL('./documents-worker.ts', import.meta.url), { type: 'module' });
    try {
      return await new Promise((resolve, reject) => {
        documents.addEventListener(
          'message',
          ({ data }: MessageEvent<{ figures: DocumentFigure[] } | { error: string }>) =>
            'error' in data ? reject(new Error(data.error)) : resolve(data.figures),
        );
        documents.addEventListener('error', ({ message }) => reject(new Error(message)));
        documents.postMessage(request);
      });
    } finally {
      documents.terminate();
    }
  },
  async close() {
    try {
      await host?.close();
    } finally {
      worker?.terminate();
      host = localHost = worker = undefined;
    }
  },
};

window.bench = bench;
const pageId = new URLSearchParams(location.search).get('obey');
if (pageId !== null) void obey(pageId, bench);

function opened(): RemoteHost {
  if (host === undefined) throw new Error('no database is open');
  return host;
}

/** Each operation is one call of the host. */
function remoteOperations(remote: RemoteHost): Operations {
  return new Proxy({} as Operations, {
    get:
      (_target, operation: string) =>
      (...args: readonly unknown[]) =>
        remote.call(operation, args),
  });
}
