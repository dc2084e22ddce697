import { Backend, type Session } from './backend.ts';
import { LockQueue } from './lock-queue.ts';
import type { ModelRow, ModelTable } from './model-tables.ts';
import type { PostgresError } from './postgres-error.ts';

export interface ModelClock {
  nowMs(): number;
  /** Runs a function later. Returns a function that cancels it. */
  after(delayMs: number, run: () => void): () => void;
}

/** The row of rockpool_store. It is replaced instead of being changed. */
export interface StoreRow {
  readonly storageFormat: number;
  readonly schema: string;
  readonly schemaHash: string;
}

/** A row of rockpool_database. It is replaced instead of being changed. */
export interface DatabaseRow {
  readonly head: number;
  readonly commitId: Uint8Array;
  readonly leasedBy: string | null;
  readonly leasedUntilMs: number;
}

/** A row of rockpool_commit. */
export interface CommitRow {
  readonly databaseId: string;
  readonly head: number;
  readonly commitId: Uint8Array;
  readonly changeset: Uint8Array;
  readonly committedAtMs: number;
}

/** What a committed transaction has written. */
export interface Written {
  readonly databases: ReadonlyMap<string, DatabaseRow>;
  readonly commits: readonly CommitRow[];
  readonly prunedBefore: ReadonlyMap<string, number>;
  readonly rows: ReadonlyMap<ModelTable, ReadonlyMap<string, ModelRow | null>>;
}

/** Everything that is committed. A snapshot of it shares the rows of its tables. */
export interface ModelState {
  store: StoreRow | null;
  databases: Map<string, DatabaseRow>;
  commits: CommitRow[];
  /** The rows of each table. */
  rows: ReadonlyMap<string, Map<string, ModelRow>>;
}

/**
 * A model of the part of PostgreSQL that the store uses (packages/sync-server/src/store/postgres): transactions at READ
 * COMMITTED and REPEATABLE READ, locks on rows of rockpool_database in the order of their requests, advisory locks,
 * timeouts, and notifications. Executes the statements of the store; any other one fails the test.
 * `instances.contract.ts` and `transactions.contract.ts` compare it with the real one.
 */
export class PostgresModel {
  readonly clock: ModelClock;
  /** Called in the order of the commits, for transactions that have written rows of a database. */
  onCommit: (written: Written) => void = () => undefined;
  /** Called for a statement that the model cannot execute. Default: an uncaught error, which fails a history. */
  onUnsupported: (error: PostgresError) => void = (error) => {
    this.clock.after(0, () => {
      throw error;
    });
  };
  readonly tables = new Map<string, ModelTable>();
  store: StoreRow | null = null;
  readonly schemas = new Map<string, string>();
  databases = new Map<string, DatabaseRow>();
  commits: CommitRow[] = [];
  readonly schemaLock = new LockQueue();
  private readonly rowLocks = new Map<string, LockQueue>();
  private readonly backends = new Set<Backend>();
  private readonly snapshots = new Set<object>();

  constructor(clock: ModelClock) {
    this.clock = clock;
  }

  connect(session: Session): Backend {
    const backend = new Backend(this, session, () => this.backends.delete(backend));
    this.backends.add(backend);
    return backend;
  }

  rowLock(databaseId: string): LockQueue {
    const known = this.rowLocks.get(databaseId) ?? new LockQueue();
    this.rowLocks.set(databaseId, known);
    return known;
  }

  /** The committed state, which later commits do not change until `forget`. */
  snapshot(holder: object): ModelState {
    this.snapshots.add(holder);
    return {
      store: this.store,
      databases: new Map(this.databases),
      commits: [...this.commits],
      rows: new Map([...this.tables].map(([name, { rows }]) => [name, rows])),
    };
  }

  forget(holder: object): void {
    this.snapshots.delete(holder);
  }

  commit(written: Written): void {
    for (const [databaseId, row] of written.databases) this.databases.set(databaseId, row);
    this.commits.push(...written.commits);
    for (const [databaseId, head] of written.prunedBefore)
      this.commits = this.commits.filter((one) => one.databaseId !== databaseId || one.head >= head);
    for (const [table, rows] of written.rows) {
      if (this.snapshots.size > 0) table.rows = new Map(table.rows);
      for (const [key, row] of rows)
        if (row === null) table.rows.delete(key);
        else table.rows.set(key, row);
    }
    if (written.commits.length > 0) this.onCommit(written);
  }

  /** Sends a notification to every connection that listens. */
  notify(payload: string): void {
    for (const backend of this.backends) if (backend.isListening) backend.session.onNotification(payload);
  }

  /** Ends all connections, as a restart does. Committed data is kept. */
  restart(): void {
    for (const backend of [...this.backends]) backend.end('57P01');
  }

  /** Restores an earlier state. Ends all connections. */
  restore(state: ModelState): void {
    this.restart();
    this.databases = new Map(state.databases);
    this.commits = [...state.commits];
    for (const [name, table] of this.tables) table.rows = new Map(state.rows.get(name));
  }
}
