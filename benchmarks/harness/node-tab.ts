import { mkdirSync } from 'node:fs';
import type { BenchTab } from './browser.ts';
import { open } from '../storage/adapters/node-sqlite.ts';
import { keyOf } from '../storage/dataset.ts';
import { fill } from '../storage/fill.ts';
import type { Operations } from '../storage/operations.ts';
import { WORKLOADS } from '../storage/workloads.ts';

/** The interface of a browser tab, in this process. "From the page" has no meaning in Node. */
export function openNodeTab(folder: string): BenchTab {
  mkdirSync(folder, { recursive: true });
  let operations: Operations | undefined;
  const opened = (): Operations => {
    if (operations === undefined) throw new Error('no database is open');
    return operations;
  };
  return {
    bench: {
      async open({ database, settings }, readsFirstRow) {
        const startMs = performance.now();
        operations = open(folder, database, settings);
        if (readsFirstRow) await operations.readValue(keyOf(42));
        return performance.now() - startMs;
      },
      fill: (dataset, sizes, lacks) => fill(opened(), dataset, sizes, lacks),
      async measure(workloadId, conditions) {
        const workload = WORKLOADS.get(workloadId);
        if (workload === undefined) throw new Error(`unknown workload "${workloadId}"`);
        return workload.measure(opened(), conditions);
      },
      loop: () => Promise.reject(new Error('a workload with two tabs needs a browser')),
      liveQueries: () => Promise.reject(new Error('SQLite has no live queries')),
      measureDocuments: () => Promise.reject(new Error('document workloads need a browser')),
      async close() {
        await operations?.close();
        operations = undefined;
      },
    },
    close: () => Promise.resolve(),
  };
}
