import { constants, DatabaseSync, type StatementSync } from 'node:sqlite';
import { RockpoolError, type CellValue } from '@rockpool/shared';
import { SealedLog } from './sealed-log.ts';

/** A row as SQLite holds it: INTEGER as bigint, REAL as number. The same distinction as in CellValue. */
export type SqlRow = readonly CellValue[];

// A statement per combination of columns that clients write: few for honest apps, many for hostile ones.
const MAX_STATEMENTS = 400;

// Only a person with the sqlite3 shell can hold the file besides this process (directory-lock.ts).
const BUSY_TIMEOUT_MS = 5_000;

export interface SqliteFileOptions {
  /** Opens a file that something else writes to. Default false. */
  readonly readOnly?: boolean;
  /** The file may be lost with the machine, and commits need not wait for the disk. Default false. */
  readonly disposable?: boolean;
  /**
   * Keeps a checksum of each page beside the file (page-sums.ts); never for a disposable file. Transactions only: what
   * is written outside of `transaction` is sealed by the next one, or by `close`. Default true.
   */
  readonly hasChecksums?: boolean;
}

/**
 * One open SQLite file: exact values in and out, prepared statements kept. Synchronous, as node:sqlite is: between two
 * awaits nothing else touches the file, so a transaction never meets another one of this process.
 */
export class SqliteFile {
  private readonly database: DatabaseSync;
  // Null where the file has no page checksums.
  private readonly sealedLog: SealedLog | null = null;
  private readonly statements = new Map<string, StatementSync>();

  constructor(path: string, { readOnly = false, disposable = false, hasChecksums = true }: SqliteFileOptions = {}) {
    this.database = new DatabaseSync(path, {
      readBigInts: true,
      returnArrays: true,
      readOnly,
      timeout: BUSY_TIMEOUT_MS,
      // Cascades must not run here: their effects were captured where they happened. merge/foreign-keys.ts checks
      // instead.
      enableForeignKeyConstraints: false,
      enableDoubleQuotedStringLiterals: false,
    });
    if (readOnly) return;
    try {
      // FULL: COMMIT returns after fsync of the write-ahead log. An acknowledgement rests on it.
      this.database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = ${disposable ? 'OFF' : 'FULL'}`);
      if (hasChecksums && !disposable && path !== ':memory:') this.sealedLog = new SealedLog(path, this.database);
    } catch (error) {
      this.database.close();
      throw error;
    }
  }

  /** Statements without parameters or results. */
  exec(sql: string): void {
    this.database.exec(sql);
  }

  run(sql: string, ...parameters: readonly CellValue[]): void {
    this.prepared(sql).run(...parameters);
  }

  get(sql: string, ...parameters: readonly CellValue[]): SqlRow | undefined {
    return this.prepared(sql).get(...parameters) as unknown as SqlRow | undefined;
  }

  all(sql: string, ...parameters: readonly CellValue[]): SqlRow[] {
    return this.prepared(sql).all(...parameters) as unknown as SqlRow[];
  }

  /** One row at a time, for tables that do not fit in memory. */
  *rows(sql: string): Generator<SqlRow> {
    yield* this.database.prepare(sql).iterate() as unknown as Iterable<SqlRow>;
  }

  /** Commits durably when `body` returns; leaves nothing behind when it throws. */
  transaction<Result>(body: () => Result): Result {
    this.database.exec('BEGIN IMMEDIATE');
    try {
      const result = body();
      this.database.exec('COMMIT');
      this.checkpointIfLong();
      return result;
    } catch (error) {
      // After some failures (disk full, I/O) SQLite has rolled back already.
      if (this.database.isTransaction) this.database.exec('ROLLBACK');
      throw error;
    }
  }

  /**
   * Does and undoes `body`. Returns with its result what it changed, in the format of SQLite's session extension;
   * empty: nothing.
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
   * Changes what a changeset of rehearse says, or returns false: it does not fit, or two of its rows swap a unique
   * value, which takes other means.
   */
  apply(changeset: Uint8Array): boolean {
    return this.database.applyChangeset(changeset, { onConflict: () => constants.SQLITE_CHANGESET_ABORT });
  }

  /** A part of a transaction that can fail alone. */
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
   * Moves the log into the file. Returns false where a reader of an older state, or another process, keeps a part of
   * it. Throws `database-damaged`.
   */
  checkpoint(): boolean {
    return this.sealedLog?.checkpoint() ?? true;
  }

  close(): void {
    this.statements.clear();
    let isEmpty = false;
    try {
      // SQLite moves the rest of the log when the last connection closes: its pages have to be sealed by then.
      if (this.sealedLog !== null && !this.database.isTransaction) isEmpty = this.sealedLog.checkpoint();
    } finally {
      this.database.close();
      this.sealedLog?.close(isEmpty);
    }
  }

  /** The commit stands, whatever fails here: the log keeps it, and the next commit tries again. */
  private checkpointIfLong(): void {
    try {
      this.sealedLog?.checkpointIfLong();
    } catch (error) {
      if (error instanceof RockpoolError && error.code === 'database-damaged') throw error;
    }
  }

  private prepared(sql: string): StatementSync {
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

/** SQLite's extended result code of something thrown by node:sqlite, or null. */
export function sqliteCodeOf(thrown: unknown): number | null {
  if (!(thrown instanceof Error) || !('errcode' in thrown)) return null;
  return typeof thrown.errcode === 'number' ? thrown.errcode : null;
}
