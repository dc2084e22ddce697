import { RockpoolError } from '@rockpool/shared';
import { releaseProxy, wrap, type Remote } from 'comlink';
import { loadPart } from '../load-part.ts';
import { installErrorTransfer } from '../rpc/error-transfer.ts';
import type { WorkerApi } from '../rpc/worker-api.ts';
import type { StartedWorker } from './start-worker.ts';

/** As long as the worker's code may take to load SQLite (`worker/opening-deadline.ts`). */
const START_WITHIN_MS = 60_000;

/** Calls into this tab's worker. Comlink alone would wait forever for a worker that never started. */
export interface WorkerConnection {
  /** Also rejects if the worker cannot start, or if the connection has ended. */
  call<T>(run: (worker: Remote<WorkerApi>) => Promise<T>): Promise<T>;
  /** Terminates the worker. Pending and later calls reject with this error. */
  end(error: RockpoolError): void;
}

/**
 * `onProblem` receives errors in the worker that belong to no call; the worker continues after them. A script that
 * cannot be loaded fails all calls with an error of `whyUnloadable`; one that throws at its start, with `internal`; one
 * that does not start within a minute, with `opening-stalled`.
 */
export function connectWorker(
  { worker, url }: StartedWorker,
  onProblem: (error: RockpoolError) => void,
): WorkerConnection {
  installErrorTransfer();
  const remote = wrap<WorkerApi>(worker);
  const methods = withMethodsKept(remote);
  const waiting = new Set<(error: RockpoolError) => void>();
  let hasAnswered = false;
  let ended: RockpoolError | null = null;

  function end(error: RockpoolError): void {
    if (ended !== null) return;
    ended = error;
    clearTimeout(deadline);
    remote[releaseProxy]();
    worker.terminate();
    for (const reject of waiting) reject(error);
    waiting.clear();
  }

  const deadline = setTimeout(
    () => end(new RockpoolError('opening-stalled', { stage: 'worker', withinMs: START_WITHIN_MS })),
    START_WITHIN_MS,
  );
  // Any message ends the deadline. Pings are sent because a worker answers a ping as soon as its script runs, but may
  // answer the first call only after the deadline.
  worker.addEventListener('message', () => clearTimeout(deadline), { once: true });
  methods.ping().catch(() => undefined);

  worker.addEventListener('error', (event) => {
    event.preventDefault(); // The browser reports nothing; the error is reported below, with a code.
    if (ended !== null) return;
    // The event is an ErrorEvent for an error in the script, and a plain Event for a missing script.
    if (!hasAnswered && !(event instanceof ErrorEvent))
      return void loadPart('worker', () => import('./why-unloadable.ts'))
        .then(({ whyUnloadable }) => whyUnloadable(url))
        .then(end, end);
    const cause: unknown = event.error ?? new Error(event.message);
    const error = new RockpoolError(
      'internal',
      { thrown: hasAnswered ? 'in the worker' : 'while the worker started' },
      { cause },
    );
    if (hasAnswered) onProblem(error);
    else end(error);
  });

  return {
    call(run) {
      if (ended !== null) return Promise.reject(ended);
      return new Promise((resolve, reject) => {
        waiting.add(reject);
        run(methods)
          .then(resolve, reject)
          .finally(() => {
            hasAnswered = true;
            waiting.delete(reject);
          });
      });
    },
    end,
  };
}

/**
 * Comlink creates a new proxy for each method access and tracks its lifetime. Together that costs more than the rest of
 * a call, so the methods are cached.
 */
function withMethodsKept(remote: Remote<WorkerApi>): Remote<WorkerApi> {
  const kept = new Map<string | symbol, unknown>();
  return new Proxy(remote, {
    get(target, name) {
      if (!kept.has(name)) kept.set(name, Reflect.get(target, name));
      return kept.get(name);
    },
  });
}
