import { toStoreError } from '../store/store-failure.ts';
import type { AdminJob, JobAnswer } from './admin-jobs.ts';
import { runJob } from './run-job.ts';

// Runs one job in its own process: reading or copying a large file would hold the accepting thread, and closing a file
// here does not drop the locks of the server (sqlite/beside-sqlite.ts).
process.once('message', (job: AdminJob) => {
  void runJob(job)
    .then(
      (result): JobAnswer => ({ result }),
      (error: unknown): JobAnswer => ({ error: toStoreError(error).toData() }),
    )
    .then((answer) => process.send?.(answer, () => process.disconnect()));
});
// Ends when the server is killed.
process.once('disconnect', () => process.exit());
