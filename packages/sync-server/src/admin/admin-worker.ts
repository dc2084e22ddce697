import { parentPort, workerData } from 'node:worker_threads';
import { toStoreError } from '../store/store-failure.ts';
import type { AdminJob, JobAnswer } from './admin-jobs.ts';
import { runJob } from './run-job.ts';

// Runs one job on a thread of its own, because reading or copying a large file would hold the accepting thread.
const answer = await runJob(workerData as AdminJob).then(
  (result): JobAnswer => ({ result }),
  (error: unknown): JobAnswer => ({ error: toStoreError(error).toData() }),
);
parentPort?.postMessage(answer);
