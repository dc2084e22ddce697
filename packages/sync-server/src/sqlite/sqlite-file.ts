import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { RockpoolError, type CellValue } from '@rockpool/shared';
import { holdLocks } from './beside-sqlite.ts';
import { warmFiles, type WarmFile } from './warm-files.ts';
import { WalCheckpointer } from './wal-checkpointer.ts';

/** A row as SQLite stores it: INTEGER as bigint, REAL as number, the same distinction as in CellValue. */
export type SqlRow = readonly CellValue[];

// The maximum number of cached statements. Each combination of columns that clients write needs one: an honest app has
// few combinations, a hostile client many.
const MAX_STATEMENTS = 400;

// How long to wait for another holder of the file, which can only be a shell such as sqlite3 (store/directory-lock.ts).
const BUSY_TIMEOUT_MS = 5_000;

/** A primary result code. */
const SQLITE_CONSTRAINT = 19;

export interface SqliteFileOptions {
  /** Opens a file that another connection writes to. Default false. */
  readonly readOnly?: boolean;
  /** Whether a power cut may lose the file, so that commits do not wait for the disk. Default false. */
  readonly disposable?: boolean;
  /**
   * Keeps a checksum of each page beside the file (page-sums.ts), except for a disposable file. Checkpoints run after
   * `transaction` and in `close`; writes made outside of `transaction` wait for the next of these. Default true.
   */
  readonly hasChecksums?: boolean;
}

/** Receives the events of an open file, on the thread that uses it. Must not throw. */
export interface FileWatcher {
  /** Called when a transaction has been committed to the log. */
  readonly onCommit: () => void;
  /** Called when the log is about to be moved into the file. Afterwards, SQLite restarts it from its beginning. */
  readonly onCheckpoint: () => void;
  /** Called when the file is about to be closed, which moves the log. */
  readonly onClosing: () => void;
  /** Called when SQLite has closed the file. */
  readonly onClosed: () => void;
}

/**
 * One open SQLite file, with exact values in and out and a cache of prepared statements. Synchronous like node:sqlite:
 * between two awaits nothing else in this process touches the file, so two of its transactions never overlap.
 */
export class SqliteFile implements WarmFile {
  private readonly database: DatabaseSync;
  // Null if the file has no page checksums.
  private readonly checkpointer: WalCheckpointer | null = null;
  private readonly statements = new Map<string, StatementSync>();
  private watcher: FileWatcher | null = null;
  private isClosed = false;
  private readonly releaseLocks: () => void;
  /** Whether commits run a WAL checkpoint when the log is long. If not, call `checkpointIfLong`. */
  checkpointsWithCommits = true;

  constructor(path: string, { readOnly = false, disposable = false, hasChecksums = true }: SqliteFileOptions = {}) {
    this.releaseLocks = path === ':memory:' ? () => undefined : holdLocks(path);
    try {
      this.database = openConnection(path, readOnly);
    } catch (error) {
      this.releaseLocks();
      throw error;
    }
    if (readOnly) return;
    this.warm();
    try {
      // FULL: COMMIT returns after fsync of the write-ahead log. Acknowledgements depend on it.
      this.database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = ${disposable ? 'OFF' : 'FULL'}`);
      if (hasChecksums && !disposable && path !== ':memory:')
        this.checkpointer = new WalCheckpointer(path, this.database);
    } catch (error) {
      warmFiles.forget(this);
      this.database.close();
      this.releaseLocks();
      throw error;
    }
  }

  /** Runs statements without parameters or results. */
  exec(sql: string): void {
    this.database.exec(sql);
  }

  run(sql: string, ...parameters: readonly CellValue[]): void {
    this.prepared(sql).run(...parameters);
  }

  /** Runs a statement. Returns whether it changed a row. */
  changesRow(sql: string, ...parameters: readonly CellValue[]): boolean {
    return Number(this.prepared(sql).run(...parameters).changes) > 0;
  }

  get(sql: string, ...parameters: readonly CellValue[]): SqlRow | undefined {
    return this.prepared(sql).get(...parameters) as unknown as SqlRow | undefined;
  }

  all(sql: string, ...parameters: readonly CellValue[]): SqlRow[] {
    return this.prepared(sql).all(...parameters) as unknown as SqlRow[];
  }

  /** Yields one row at a time, for tables that do not fit in memory. */
  *rows(sql: string): Generator<SqlRow> {
    yield* this.database.prepare(sql).iterate() as unknown as Iterable<SqlRow>;
  }

  /**
   * Yields one row at a time until the caller has enough. The same statement must not run before the caller has
   * finished.
   */
  *some(sql: string, ...parameters: readonly CellValue[]): Generator<SqlRow> {
    yield* this.prepared(sql).iterate(...parameters) as unknown as Iterable<SqlRow>;
  }

  /** Commits when `body` returns, and rolls back when it throws. */
  transaction<Result>(body: () => Result): Result {
    this.warm();
    this.database.exec('BEGIN IMMEDIATE');
    try {
      const result = body();
      this.database.exec('COMMIT');
      this.watcher?.onCommit();
      this.noteCommit();
      return result;
    } catch (error) {
      // After some failures (disk full, I/O) SQLite has already rolled back.
      if (this.database.isTransaction) this.database.exec('ROLLBACK');
      throw error;
    }
  }

  /**
   * Runs `body` and rolls it back. Returns its result and its changes in the format of SQLite's session extension,
   * empty if it changed nothing.
   */
  rehearse<Result>(body: () => Result): { readonly result: Result; readonly changeset: Uint8Array } {
    this.database.exec('BEGIN IMMEDIATE');
    const session = this.database.createSession();
    try {
      return { result: body(), changeset: session.changeset() };
    } finally {
      session.close();
      if (this.database.isTransaction) this.database.exec('ROLLBACK');
    }
  }

  /**
   * Runs `body` in a transaction. Returns false, and rolls back, if a constraint rejects one of its statements. Unlike
   * `transaction`, notifies no watcher and runs no WAL checkpoint.
   */
  attempt(body: () => void): boolean {
    this.database.exec('BEGIN IMMEDIATE');
    try {
      body();
      this.database.exec('COMMIT');
      return true;
    } catch (error) {
      if (this.database.isTransaction) this.database.exec('ROLLBACK');
      if (((sqliteCodeOf(error) ?? 0) & 0xff) === SQLITE_CONSTRAINT) return false;
      throw error;
    }
  }

  /** Runs a part of a transaction that can fail on its own. */
  savepoint<Result>(body: () => Result): Result {
    this.run('SAVEPOINT part');
    try {
      const result = body();
      this.run('RELEASE part');
      return result;
    } catch (error) {
      if (this.database.isTransaction) {
        this.run('ROLLBACK TO part');
        this.run('RELEASE part');
      }
      throw error;
    }
  }

  /**
   * Moves the log into the file. Returns false if a reader of an older state, or another process, still needs part of
   * the log. Throws `database-damaged`.
   */
  checkpoint(): boolean {
    return this.checkpointer?.checkpoint() ?? true;
  }

  /** The frames of committed transactions in the log. Zero for a file without page checksums. */
  get logFrames(): number {
    return this.checkpointer?.frameCount ?? 0;
  }

  /** Observes operations on the file. A file without page checksums cannot be observed. */
  watch(watcher: FileWatcher): void {
    this.watcher = watcher;
    if (this.checkpointer !== null) this.checkpointer.onCheckpoint = watcher.onCheckpoint;
  }

  /** Pauses checkpoints until it is called with false: the file does not change, and the log only grows. */
  pauseCheckpoints(isPaused: boolean): void {
    if (this.checkpointer !== null) this.checkpointer.isPaused = isPaused;
  }

  /**
   * Frees cached pages, except those that a running statement uses. Keeps prepared statements: dropping them would free
   * their memory only at a garbage collection, which comes late because it does not count that memory.
   */
  releaseMemory(): void {
    this.database.exec('PRAGMA shrink_memory');
  }

  close(): void {
    this.statements.clear();
    this.watcher?.onClosing();
    this.pauseCheckpoints(false);
    let isEmpty = false;
    try {
      // SQLite checkpoints the rest of the log when the last connection closes, so the page checksums must be written
      // before.
      if (this.checkpointer !== null && !this.database.isTransaction) isEmpty = this.checkpointer.checkpoint();
    } finally {
      // Code before this line may still use the file.
      this.isClosed = true;
      warmFiles.forget(this);
      this.database.close();
      this.releaseLocks();
      this.watcher?.onClosed();
      this.checkpointer?.close(isEmpty);
    }
  }

  /**
   * Moves a long log into the file. A failure does not affect any commit: the log keeps them, and the next call tries
   * again. Throws `database-damaged`. Does nothing once the file is closed.
   */
  checkpointIfLong(): void {
    if (!this.isClosed) this.unlessFailing((checkpointer) => checkpointer.checkpointIfLong());
  }

  private noteCommit(): void {
    this.unlessFailing((checkpointer) => {
      checkpointer.onCommit();
      if (this.checkpointsWithCommits) checkpointer.checkpointIfLong();
    });
  }

  private unlessFailing(body: (checkpointer: WalCheckpointer) => void): void {
    try {
      if (this.checkpointer !== null) body(this.checkpointer);
    } catch (error) {
      if (error instanceof RockpoolError && error.code === 'database-damaged') throw error;
    }
  }

  /** Ignores a closed file: if it became warm again, releasing its memory later would fail a use of another file. */
  private warm(): void {
    if (!this.isClosed) warmFiles.use(this);
  }

  private prepared(sql: string): StatementSync {
    this.warm();
    const known = this.statements.get(sql);
    if (known !== undefined) return known;
    const statement = this.database.prepare(sql);
    if (this.statements.size >= MAX_STATEMENTS) {
      for (const oldest of this.statements.keys()) {
        this.statements.delete(oldest);
        break;
      }
    }
    this.statements.set(sql, statement);
    return statement;
  }
}

function openConnection(path: string, readOnly: boolean): DatabaseSync {
  return new DatabaseSync(path, {
    readBigInts: true,
    returnArrays: true,
    readOnly,
    timeout: BUSY_TIMEOUT_MS,
    // Cascades must not run here: their effects were captured where they happened. merge/foreign-keys.ts checks foreign
    // keys instead.
    enableForeignKeyConstraints: false,
    enableDoubleQuotedStringLiterals: false,
  });
}

/** The extended result code of an error thrown by node:sqlite, or null for any other value. */
export function sqliteCodeOf(thrown: unknown): number | null {
  if (!(thrown instanceof Error) || !('errcode' in thrown)) return null;
  return typeof thrown.errcode === 'number' ? thrown.errcode : null;
}
