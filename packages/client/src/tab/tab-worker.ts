import { RockpoolError, toRockpoolError } from '@rockpool/shared';
import type { Remote } from 'comlink';
import type { WorkerApi } from '../rpc/worker-api.ts';
import type { WorkerConnection } from './worker-connection.ts';

/** A ping every five seconds costs nothing that can be measured. */
const PING_MS = 5_000;

/**
 * A worker is stuck when it has not answered for a minute of the page's time. A statement may take seconds; one that
 * takes a minute has no end.
 */
const PINGS_UNANSWERED = 12;

export interface TabWorkerOptions {
  /** Starts a worker. */
  readonly connect: () => WorkerConnection;
  /** Makes a worker usable that was started in the place of another. */
  readonly reopen: (worker: Remote<WorkerApi>) => Promise<void>;
  /** A worker that was started in the place of another cannot be used. */
  readonly onProblem: (error: RockpoolError) => void;
  /** The worker did not answer and was ended; another is being started. */
  readonly onStuck: (error: RockpoolError) => void;
  readonly pingMs?: number;
}

export interface TabWorker extends WorkerConnection {
  /** From now on a worker that does not answer is replaced. */
  watch(): void;
  /** Replaces it now, for a reason that it gave itself. */
  restart(reason: RockpoolError): void;
}

interface Run {
  readonly connection: WorkerConnection;
  readonly whenUsable: Promise<void>;
}

/**
 * This tab's worker, and another in its place when it is stuck. Nobody else can end a worker, and no lock is taken from
 * one: it gives up its locks and files by ending, and the new one waits in their queues like any tab.
 *
 * A call that was under way is asked once more of the new worker; a write has an id, so it is done once. If that gets
 * stuck too, the call fails with `worker-stuck`.
 */
export function createTabWorker({
  connect,
  reopen,
  onProblem,
  onStuck,
  pingMs = PING_MS,
}: TabWorkerOptions): TabWorker {
  let run: Run = { connection: connect(), whenUsable: Promise.resolve() };
  /** Of the worker that is there. It is not asked for pings while it is being opened, which may take long. */
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
        opening = 'failed'; // The next look tries again.
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
    if (++unanswered > 1) return; // The first ping is still waited for.
    connection
      .call((worker) => worker.ping())
      .then(
        () => run.connection === connection && (unanswered = 0),
        () => undefined, // It has ended.
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
