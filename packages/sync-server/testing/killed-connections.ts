import { Connections, type Connection } from '../src/postgres/connection.ts';

/**
 * Counts the requests that a process sends to PostgreSQL, and fails all of them from one request on, as if the process
 * had been killed.
 */
export class Kill {
  /** The number of requests and ends of transactions. */
  count = 0;
  private readonly after: number;

  /** The process is killed before request `after`, counted from 0. */
  constructor(after: number = Infinity) {
    this.after = after;
  }

  step(): void {
    if (this.count++ >= this.after) throw new Error('killed');
  }
}

/** Connections of a process that a Kill ends: before a request, or after a COMMIT whose response it never reads. */
export class KilledConnections extends Connections {
  private readonly kill: Kill;

  constructor(url: string, kill: Kill) {
    super(url);
    this.kill = kill;
  }

  override async query(...request: Parameters<Connections['query']>): ReturnType<Connections['query']> {
    this.kill.step();
    return super.query(...request);
  }

  override async transaction<Result>(
    databaseId: string | null,
    mode: 'READ WRITE' | 'REPEATABLE READ, READ ONLY',
    body: (connection: Connection) => Promise<{ readonly commit: boolean; readonly result: Result }>,
  ): Promise<Result> {
    const result = await super.transaction(databaseId, mode, (connection) =>
      body({
        query: async (...request) => {
          this.kill.step();
          return connection.query(...request);
        },
      }),
    );
    this.kill.step();
    return result;
  }
}

/** Holds a process at a request that is outside of a transaction, so that it holds no lock. */
export class Pause {
  private count = 0;
  private transactions = 0;
  private readonly after: number;
  private readonly arrived = Promise.withResolvers<true>();
  private readonly ended = Promise.withResolvers<void>();

  constructor(after: number) {
    this.after = after;
  }

  /** Resolves once the process is held, or with false if it ends before. */
  reached(process: Promise<unknown>): Promise<boolean> {
    return Promise.race([this.arrived.promise, process.then(() => false)]);
  }

  end(): void {
    this.ended.resolve();
  }

  async step(): Promise<void> {
    if (this.transactions > 0 || this.count++ !== this.after) return;
    this.arrived.resolve(true);
    await this.ended.promise;
  }

  async inTransaction<Result>(body: () => Promise<Result>): Promise<Result> {
    this.transactions++;
    try {
      return await body();
    } finally {
      this.transactions--;
    }
  }
}

/** Connections of a process that a Pause holds. */
export class PausedConnections extends Connections {
  private readonly pause: Pause;

  constructor(url: string, pause: Pause) {
    super(url);
    this.pause = pause;
  }

  override async query(...request: Parameters<Connections['query']>): ReturnType<Connections['query']> {
    await this.pause.step();
    return super.query(...request);
  }

  override async transaction<Result>(
    databaseId: string | null,
    mode: 'READ WRITE' | 'REPEATABLE READ, READ ONLY',
    body: (connection: Connection) => Promise<{ readonly commit: boolean; readonly result: Result }>,
  ): Promise<Result> {
    await this.pause.step();
    return this.pause.inTransaction(() => super.transaction(databaseId, mode, body));
  }
}
