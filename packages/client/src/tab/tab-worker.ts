import { RockpoolError, toRockpoolError } from '@rockpool/shared';
import type { Remote } from 'comlink';
import { FINAL_ERRORS } from '../rpc/final-errors.ts';
import type { WorkerApi } from '../rpc/worker-api.ts';
import type { WorkerConnection } from './worker-connection.ts';

/** One ping in five seconds has no measurable cost. */
const PING_MS = 5_000;

/**
 * A worker counts as stuck when it has not answered for a minute in which the page ran. A statement may take seconds,
 * but one that takes a minute does not end.
 */
const PINGS_UNANSWERED = 12;

export interface TabWorkerOptions {
  /** Starts a worker and connects to it. */
  readonly connect: () => WorkerConnection;
  /** Opens the database in a replacement worker. */
  readonly reopen: (worker: Remote<WorkerApi>) => Promise<void>;
  /**
   * Called while the database is not open: when a stuck worker was terminated and a replacement is starting, and when a
   * replacement cannot open the database. `isFinal`: no further attempt follows, because only a person can help.
   */
  readonly onDown: (error: RockpoolError, isFinal: boolean) => void;
  readonly pingMs?: number;
}

export interface TabWorker extends WorkerConnection {
  startAgain(): void;
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
export class ReplaceableWorker implements TabWorker {
  // The constructor sets these fields; a declaration adds nothing to the page's code.
  declare private readonly options: TabWorkerOptions;
  declare private readonly pingMs: number;
  declare private run: Run;
  /**
   * The state of the current worker. It receives no pings while it opens the database, which may take a long time, nor
   * after a final failure, which leaves the state as it is.
   */
  private opening: 'done' | 'under way' | 'failed' = 'done';
  private unanswered = 0;
  declare private timer: ReturnType<typeof setInterval> | undefined;

  constructor(options: TabWorkerOptions) {
    this.options = options;
    this.pingMs = options.pingMs ?? PING_MS;
    this.startAgain();
  }

  /** Starts another worker before the first one has opened the database. */
  startAgain(): void {
    this.run = { connection: this.options.connect(), whenUsable: Promise.resolve() };
  }

  watch(): void {
    this.timer = setInterval(() => this.check(), this.pingMs);
  }

  restart(reason: RockpoolError): void {
    this.replace(reason);
    this.options.onDown(reason, false);
  }

  async call<T>(ask: (worker: Remote<WorkerApi>) => Promise<T>): Promise<T> {
    for (let timesAsked = 1; ; timesAsked++) {
      const { connection, whenUsable } = this.run;
      try {
        await whenUsable;
        return await connection.call(ask);
      } catch (thrown) {
        const { code, fields } = toRockpoolError(thrown);
        // The worker that got stuck may have committed the write, whatever error its replacement reports.
        if (timesAsked > 1) throw new RockpoolError(code, { ...fields, timesAsked });
        if (code !== 'worker-stuck') throw thrown;
      }
    }
  }

  end(error: RockpoolError): void {
    clearInterval(this.timer);
    this.run.connection.end(error);
  }

  private replace(error: RockpoolError): void {
    const { connect, reopen, onDown } = this.options;
    const before = this.run;
    this.opening = 'under way';
    this.unanswered = 0;
    const connection = connect();
    const whenUsable = connection.call(reopen);
    this.run = { connection, whenUsable };
    before.connection.end(error);
    whenUsable.then(
      () => this.run.connection === connection && (this.opening = 'done'),
      (thrown: unknown) => {
        if (this.run.connection !== connection) return;
        const failure = toRockpoolError(thrown);
        const isFinal = FINAL_ERRORS.has(failure.code);
        if (!isFinal) this.opening = 'failed'; // The next check tries again.
        onDown(failure, isFinal);
      },
    );
  }

  private check(): void {
    const { connection } = this.run;
    if (this.opening === 'failed') return this.replace(new RockpoolError('worker-stuck'));
    if (this.opening !== 'done') return;
    if (this.unanswered >= PINGS_UNANSWERED)
      return this.restart(new RockpoolError('worker-stuck', { waitedMs: this.unanswered * this.pingMs }));
    if (++this.unanswered > 1) return; // The last ping is still unanswered.
    connection
      .call((worker) => worker.ping())
      .then(
        () => this.run.connection === connection && (this.unanswered = 0),
        () => undefined, // Rejected because the worker has ended.
      );
  }
}
