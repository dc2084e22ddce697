import type { ByteSource } from '../files/byte-source.ts';
import type { StorageLocks } from '../locks/storage-locks.ts';
import type { StorageSignals } from '../locks/storage-signals.ts';
import type { OpenedStore } from '../opened-store.ts';
import type { LastFailure } from '../last-failure.ts';
import type { StorageError } from '../storage-error.ts';

/** Where a database is stored. The app can always see it, and it never changes without the app's request. */
export type Persistence = 'opfs' | 'indexeddb' | 'memory';

/**
 * One open file, synchronous like an OPFS access handle. Methods may throw what a browser throws (`QuotaExceededError`,
 * `InvalidStateError`), and `write` may return a smaller count; `guarded-file.ts` turns both into a `StorageError`.
 */
export interface StorageFile {
  /** Returns the number of bytes read, which is smaller than requested at the end of the file. */
  read(into: Uint8Array, at: number): number;
  write(from: Uint8Array, at: number): number;
  truncate(sizeBytes: number): void;
  /** Returns once everything written before survives a power cut. */
  flush(): void;
  sizeBytes(): number;
  close(): void;
}

/**
 * A medium that holds files: the origin-private file system, memory, a simulated disk. All openers of a file see the
 * same bytes at once, in the order of the writes; the write-ahead log requires no more.
 */
export interface FileMedium {
  readonly kind: string;
  readonly persistence: Persistence;
  /** Whether readers may open the files while the writer has them open. If false, one opener at a time. */
  readonly allowsReaders: boolean;
  readonly locks: StorageLocks;
  readonly signals: StorageSignals;
  /**
   * Lists what the browser or context lacks; empty when the medium can be used. Throws `storage-ephemeral` in a private
   * window that keeps nothing.
   */
  missing(): Promise<readonly string[]>;
  /** Estimate of how many more bytes can be stored; `undefined` when there is none. */
  freeBytes(): Promise<number | undefined>;
  /** Returns `undefined` when the file does not exist and `create` is false. */
  open(fileName: string, create: boolean): Promise<StorageFile | undefined>;
  /** Renames a file that is not open to a name that is not in use. Does nothing when the file does not exist. */
  rename(fileName: string, newName: string): Promise<void>;
  remove(fileName: string): Promise<void>;
  list(): Promise<readonly string[]>;
  /** Returns `undefined` when the file does not exist. */
  sizeBytes(fileName: string): Promise<number | undefined>;
}

/** Sizes on the medium in bytes. The log's segments keep their length for reuse; a medium without a log has 0. */
export interface StorageSizes {
  readonly databaseBytes: number;
  readonly logBytes: number;
  /** The staged file, if there is one: an import is under way or was interrupted. */
  readonly stagedBytes?: number;
}

export interface OpenStoreOptions {
  readonly name: string;
  readonly pageSizeBytes: number;
  readonly timeoutMs: number;
  readonly isStrict: boolean;
  readonly onError: (error: unknown) => void;
  readonly onUndone: (error: StorageError) => void;
}

export interface ReplaceOptions {
  readonly timeoutMs: number;
  /**
   * Receives the new content as an open store, which it may change and must close. Throwing cancels the replacement.
   */
  readonly check: (opened: OpenedStore, failure: LastFailure) => Promise<void>;
}

/**
 * A medium without synchronous files (IndexedDB), which stores whole databases in its own way. Callers have checked the
 * names.
 */
export interface StoreMedium {
  readonly kind: string;
  readonly persistence: Persistence;
  readonly allowsReaders: false;
  missing(): Promise<readonly string[]>;
  freeBytes(): Promise<number | undefined>;
  openWriter(options: OpenStoreOptions): Promise<OpenedStore>;
  list(): Promise<readonly string[]>;
  sizes(name: string): Promise<StorageSizes | undefined>;
  rename(name: string, newName: string): Promise<void>;
  /** Calls `before` while no writer can open the database. */
  remove(name: string, before?: () => Promise<void>): Promise<void>;
  openExport(name: string): Promise<ByteSource>;
  /** Replaces the database with `content` in one step. */
  replace(name: string, content: AsyncIterable<Uint8Array>, options: ReplaceOptions): Promise<void>;
}

export type Medium = FileMedium | StoreMedium;
