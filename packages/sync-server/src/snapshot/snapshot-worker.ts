import { parentPort, workerData } from 'node:worker_threads';
import { writeSnapshot } from './write-snapshot.ts';

// Runs on a thread of its own, so that the server's thread keeps serving. An error here becomes the worker's `error`
// event.
const { from, to } = workerData as { readonly from: string; readonly to: string };
parentPort?.postMessage(await writeSnapshot(from, to));
