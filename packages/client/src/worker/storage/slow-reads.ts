import { ReadInterrupted } from '../leader/opened-database.ts';
import type { EncodedRows } from '../../rpc/rows-transfer.ts';
import type { SqlStatement } from '../../rpc/sql-statement.ts';
import type { QueryRun } from '../database/query-run.ts';
import { isSnapshotLost } from '../database/lost-snapshot.ts';

/** How long a query may occupy a worker before other work runs; far below the 50 ms that a user notices. */
export const SLICE_MS = 20;

/** The part of a connection that slow reads use. */
export interface SlowConnection {
  readonly database: { startQuery(statement: SqlStatement): QueryRun };
  close(): Promise<void>;
}

/**
 * Runs queries that take longer than one slice, one after the other, on a connection of their own, which may keep an
 * old snapshot open while others read and write. Between two slices the worker does its other work.
 */
export class SlowReads {
  private readonly open: () => Promise<SlowConnection>;
  private opening: Promise<SlowConnection> | null = null;
  private last: Promise<unknown> = Promise.resolve();
  private running: QueryRun | null = null;
  private isClosed = false;

  /** `open` is called when the first query needs the connection. */
  constructor(open: () => Promise<SlowConnection>) {
    this.open = open;
  }

  /** Rejects with ReadInterrupted when the reads are closed before the end. */
  query(statement: SqlStatement): Promise<EncodedRows> {
    const run = (): Promise<EncodedRows> => this.run(statement);
    const result = this.last.then(run).catch((thrown: unknown) => {
      // A forced WAL checkpoint invalidated the snapshot. The second attempt reads a current one.
      if (!isSnapshotLost(thrown)) throw thrown;
      return run();
    });
    this.last = result.catch(() => undefined);
    return result;
  }

  async close(): Promise<void> {
    this.isClosed = true;
    this.running?.end();
    const opened = await this.opening?.catch(() => null);
    await opened?.close();
  }

  private async run(statement: SqlStatement): Promise<EncodedRows> {
    this.requireOpen();
    this.opening ??= this.open().catch((thrown: unknown) => {
      this.opening = null; // The next query tries to open it again.
      throw thrown;
    });
    const { database } = await this.opening;
    this.requireOpen();
    const running = database.startQuery(statement);
    this.running = running;
    try {
      for (;;) {
        const rows = running.advance(SLICE_MS);
        if (rows !== null) return rows;
        await new Promise((resolve) => setTimeout(resolve));
        this.requireOpen();
      }
    } finally {
      this.running = null;
      running.end();
    }
  }

  private requireOpen(): void {
    if (this.isClosed) throw new ReadInterrupted();
  }
}
