import { RockpoolError, toRockpoolError } from '@rockpool/shared';
import type { Remote } from 'comlink';
import type { WorkerApi } from '../rpc/worker-api.ts';
import type { WorkerConnection } from './worker-connection.ts';

/** A ping every five seconds has no measurable cost. */
const PING_MS = 5_000;

/**
 * A worker is stuck when it has not answered for a minute of the page's time. A statement may take seconds; one that
 * takes a minute does not end.
 */
const PINGS_UNANSWERED = 12;

export interface TabWorkerOptions {
  /** Starts a worker. */
  readonly connect: () => WorkerConnection;
  /** Opens the database in a replacement worker. */
  readonly reopen: (worker: Remote<WorkerApi>) => Promise<void>;
  /** Called when a replacement worker cannot be opened. */
  readonly onProblem: (error: RockpoolError) => void;
  /** Called when a stuck worker was terminated and a replacement is starting. */
  readonly onStuck: (error: RockpoolError) => void;
  readonly pingMs?: number;
}

export interface TabWorker extends WorkerConnection {
  /** Starts replacing workers that do not answer. */
  watch(): void;
  /** Replaces the worker now, for a reason that it reported itself. */
  restart(reason: RockpoolError): void;
}

interface Run {
  readonly connection: WorkerConnection;
  readonly whenUsable: Promise<void>;
}

/**
 * Runs this tab's worker and replaces it when it is stuck. Only its own page can terminate a worker, and locks cannot
 * be taken from it: termination releases its locks and files, and the new worker queues for them like any tab.
 *
 * A call in progress is repeated on the new worker; writes have an id and run only once. If the new worker gets stuck
 * too, the call fails with `worker-stuck`.
 */
export function createTabWorker({
  connect,
  reopen,
  onProblem,
  onStuck,
  pingMs = PING_MS,
}: TabWorkerOptions): TabWorker {
  let run: Run = { connection: connect(), whenUsable: Promise.resolve() };
  /** The state of the current worker. It gets no pings while it is opening, which may take long. */
  let opening: 'done' | 'under way' | 'failed' = 'done';
  let unanswered = 0;
  let timer: ReturnType<typeof setInterval> | undefined;

  function replace(error: RockpoolError): void {
    const before = run;
    opening = 'under way';
    unanswered = 0;
    const connection = connect();
    const whenUsable = connection.call(reopen);
    run = { connection, whenUsable };
    before.connection.end(error);
    whenUsable.then(
      () => run.connection === connection && (opening = 'done'),
      (thrown: unknown) => {
        if (run.connection !== connection) return;
        opening = 'failed'; // The next check tries again.
        onProblem(toRockpoolError(thrown));
      },
    );
  }

  function restart(stuck: RockpoolError): void {
    replace(stuck);
    onStuck(stuck);
  }

  function look(): void {
    const { connection } = run;
    if (opening === 'under way') return;
    if (opening === 'failed') return replace(new RockpoolError('worker-stuck', { restarted: true }));
    if (unanswered >= PINGS_UNANSWERED)
      return restart(new RockpoolError('worker-stuck', { waitedMs: unanswered * pingMs }));
    if (++unanswered > 1) return; // The first ping is still pending.
    connection
      .call((worker) => worker.ping())
      .then(
        () => run.connection === connection && (unanswered = 0),
        () => undefined, // The worker has ended.
      );
  }

  return {
    watch() {
      timer = setInterval(look, pingMs);
    },
    restart,
    async call(ask) {
      for (let timesAsked = 1; ; timesAsked++) {
        const { connection, whenUsable } = run;
        try {
          await whenUsable;
          return await connection.call(ask);
        } catch (thrown) {
          if (!(thrown instanceof RockpoolError) || thrown.code !== 'worker-stuck' || timesAsked > 1) throw thrown;
        }
      }
    },
    end(error) {
      clearInterval(timer);
      run.connection.end(error);
    },
  };
}
