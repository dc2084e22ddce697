import type { Medium, Persistence } from './media/medium.ts';
import type { StorageError } from './storage-error.ts';
import type { SqliteModule } from './sqlite/sqlite-module.ts';
import type { Tuning } from './tuning.ts';

/** The one connection that may write, or one of any number that may read beside it. */
export type Role = 'writer' | 'reader';

/**
 * - `relaxed`: in the log when COMMIT returns, flushed within a second: survives the death of the tab, the worker and
 *   the browser's
 *   process; a power cut may take the last second, never more, and never the middle of a transaction.
 * - `strict`: flushed before COMMIT returns: survives a power cut too.
 */
export type Durability = 'relaxed' | 'strict';

export interface OpenStorageOptions {
  /** Letters, digits, dot, dash, underscore; at most 100. */
  readonly name: string;
  readonly medium: Medium;
  readonly role: Role;
  /** Only for the writer. Default `relaxed`. */
  readonly durability?: Durability;
  /**
   * Page size of a new database: 8192 (default) or 4096. A smaller power of two from 512 on is taken too, but SQLite
   * must then be told as well, by PRAGMA page_size. An existing database keeps its own.
   */
  readonly pageSizeBytes?: number;
  /** How long to wait for the writer's lock, or as a reader for a writer to create the database. Default 3000. */
  readonly timeoutMs?: number;
  readonly tuning?: Partial<Tuning>;
  /**
   * Called when the medium refused what COMMIT had let through, and the pages are those of before: before `committed()`
   * rejects, and also when nobody waits for that. For whoever keeps something in memory that was read from the
   * database. Only on IndexedDB.
   */
  readonly onUndone?: (error: StorageError) => void;
}

/** One open database. It serves one SQLite connection; open a second storage for a second connection. */
export interface Storage {
  readonly name: string;
  readonly role: Role;
  readonly persistence: Persistence;
  /** For `sqlite3_open_v2(path, …, vfsName)`, once `register` was called. */
  readonly path: string;
  readonly vfsName: string;
  /** The last failure, with its code: SQLite itself passes on only a number. */
  readonly lastError: StorageError | undefined;
  /**
   * Since when (milliseconds since 1970) there are commits that a power cut could take; `undefined` when there are
   * none.
   */
  readonly dirtySinceMs: number | undefined;
  /** Makes this storage known to a `wa-sqlite` module, the synchronous build. */
  register(module: SqliteModule): void;
  /**
   * Resolves when the medium has every commit so far, as the durability says: at once on files, where COMMIT waits for
   * that itself; on IndexedDB on `complete` of its transaction, and **only then is a commit acknowledged**. Rejects
   * with the reason when one could not be stored: then it and all later ones are undone, the pages are those of before,
   * and the storage can be used again. Call it in the same turn as COMMIT.
   */
  committed(): Promise<void>;
  /**
   * Returns when every commit so far survives a power cut. Many commits may share one call. Does nothing for a reader.
   * On IndexedDB there is no such call: it throws `storage-unsupported`, unless the durability is strict and nothing is
   * under way.
   */
  flush(): void;
  /**
   * Moves the log into the database file. Resolves to false when readers still needed an old snapshot after `waitMs`
   * (default 1000), and for a reader. The log also does this by itself.
   */
  checkpoint(waitMs?: number): Promise<boolean>;
  /**
   * Opens a reader in this worker on what this storage has open, on every medium: another connection, whose read
   * transactions do not see, nor wait for, what the writer's transaction has not committed. Close it before this
   * storage.
   */
  openReader(): Promise<Storage>;
  /**
   * The latest commit as a stream of the bytes of one plain SQLite file, on every medium: what `exportFile` gives where
   * others may open the files too. All of it is one snapshot, whatever is committed meanwhile. Read it to its end or
   * cancel it before closing this storage; otherwise it breaks off with an error.
   */
  exportFile(): Promise<ReadableStream<Uint8Array>>;
  /**
   * Close the SQLite connection first. Flushes, moves a small log into the database file, and lets go of files and
   * locks. `leavesLog`: the log stays for the next writer, who goes on with it; for when that one waits. Default false.
   */
  close(options?: { readonly leavesLog?: boolean }): Promise<void>;
}
