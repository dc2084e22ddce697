import type { Medium, Persistence } from './media/medium.ts';
import type { StorageError } from './storage-error.ts';
import type { SqliteModule } from './sqlite/sqlite-module.ts';
import type { Tuning } from './tuning.ts';

/** The one connection that may write, or one of any number of connections that read at the same time. */
export type Role = 'writer' | 'reader';

/**
 * - `relaxed`: in the log when COMMIT returns, flushed within a second. Survives the death of the tab, the worker and
 *   the browser's process. A power cut may undo the commits of the last second, never more, and never part of a
 *   transaction.
 * - `strict`: flushed before COMMIT returns. Also survives a power cut.
 */
export type Durability = 'relaxed' | 'strict';

export interface OpenStorageOptions {
  /** At most 200 letters, digits, dots, dashes and underscores. */
  readonly name: string;
  readonly medium: Medium;
  readonly role: Role;
  /** Applies to the writer only. Default `relaxed`. */
  readonly durability?: Durability;
  /**
   * Page size of a new database in bytes: 8192 (default) or 4096. Smaller powers of two from 512 up are accepted, but
   * then SQLite needs the same value by PRAGMA page_size. An existing database keeps its page size.
   */
  readonly pageSizeBytes?: number;
  /** How long to wait for the writer's lock, or, as a reader, for a writer to create the database. Default 3000. */
  readonly timeoutMs?: number;
  readonly tuning?: Partial<Tuning>;
  /**
   * Called when the medium rejected a commit after COMMIT had returned, once the pages are back to the state before it:
   * before `committed()` rejects, and also if no caller waits for `committed()`. Use it to discard cached data of the
   * database. Only IndexedDB calls it.
   */
  readonly onUndone?: (error: StorageError) => void;
}

/** One open database. It serves one SQLite connection; open a second storage for a second connection. */
export interface Storage {
  readonly name: string;
  readonly role: Role;
  readonly persistence: Persistence;
  /** The path for `sqlite3_open_v2(path, …, vfsName)`, valid after `register`. */
  readonly path: string;
  readonly vfsName: string;
  /** The last failure, with its code. SQLite itself passes on only a number. */
  readonly lastError: StorageError | undefined;
  /**
   * Time of the oldest commit that a power cut could undo, in milliseconds since 1970; `undefined` if there is none.
   */
  readonly dirtySinceMs: number | undefined;
  /** Registers this storage with a `wa-sqlite` module of the synchronous build. */
  register(module: SqliteModule): void;
  /**
   * Resolves when the medium holds every commit so far, as durably as the durability option promises. On files it
   * resolves at once, because COMMIT itself waits. On IndexedDB it resolves on `complete` of the IndexedDB transaction,
   * and **only then is a commit acknowledged**. Rejects with the reason when a commit could not be stored: that commit
   * and all later ones are undone, the pages return to the state before it, and the storage remains usable. Call it in
   * the same turn as COMMIT: a commit that was undone before the call does not count.
   */
  committed(): Promise<void>;
  /**
   * Returns when every commit so far survives a power cut. Many commits may share one call. Does nothing on a reader.
   * IndexedDB has no synchronous flush: the call throws `storage-unsupported` there, unless the durability is strict
   * and no commit is pending.
   */
  flush(): void;
  /**
   * Moves the log into the database file. Resolves to false when readers still needed an old snapshot after `waitMs`
   * (default 1000), and always on a reader. The storage also runs WAL checkpoints by itself.
   */
  checkpoint(waitMs?: number): Promise<boolean>;
  /**
   * Opens a reader in this worker on the files of this storage, on every medium. The reader is a separate connection;
   * its read transactions neither see nor wait for uncommitted writes. Close it before this storage.
   */
  openReader(): Promise<Storage>;
  /**
   * Streams the latest commit as the bytes of one plain SQLite file, on every medium. The function `exportFile` does
   * the same on media that let others open the files. The stream is one snapshot, unaffected by later commits. Read it
   * to the end or cancel it before closing this storage; otherwise it fails.
   */
  exportFile(): Promise<ReadableStream<Uint8Array>>;
  /**
   * Flushes, moves a small log into the database file, and releases files and locks. Close the SQLite connection first.
   * `leavesLog` leaves the log to the next writer, which continues it; use it when a writer is waiting. Default false.
   */
  close(options?: { readonly leavesLog?: boolean }): Promise<void>;
}
