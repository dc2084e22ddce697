import { parentPort } from 'node:worker_threads';
import { writeSnapshot } from './write-snapshot.ts';

/** A snapshot of the database file `from` is to be written to `to`. */
export interface SnapshotTask {
  readonly from: string;
  readonly to: string;
}

// Runs on a thread of its own, so that the server's thread keeps serving. An error here ends the thread and becomes its
// `error` event.
parentPort?.on('message', (task: SnapshotTask) => void answer(task));

async function answer({ from, to }: SnapshotTask): Promise<void> {
  parentPort?.postMessage(await writeSnapshot(from, to));
}
