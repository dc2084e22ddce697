import { parentPort, workerData } from 'node:worker_threads';
import { writeSnapshot } from './write-snapshot.ts';

// A thread of its own, so that the one that serves goes on. What fails in it reaches the other side as its `error`
// event.
const { from, to } = workerData as { readonly from: string; readonly to: string };
parentPort?.postMessage(await writeSnapshot(from, to));
