import type { RockpoolError } from '@rockpool/shared';
import type { Remote } from 'comlink';
import type { WorkerApi } from '../rpc/worker-api.ts';
import type { WorkerConnection } from '../tab/worker-connection.ts';

/** Connects to a worker part that runs on the same thread, by plain calls. */
export function connectInProcess(worker: WorkerApi): WorkerConnection {
  const waiting = new Set<(error: RockpoolError) => void>();
  let ended: RockpoolError | null = null;
  return {
    call(run) {
      if (ended !== null) return Promise.reject(ended);
      return new Promise((resolve, reject) => {
        waiting.add(reject);
        // The caller sees no difference from Comlink's proxy: every method returns a promise.
        run(worker as unknown as Remote<WorkerApi>)
          .then(resolve, reject)
          .finally(() => waiting.delete(reject));
      });
    },
    end(error) {
      ended ??= error;
      for (const reject of waiting) reject(error);
      waiting.clear();
    },
  };
}
