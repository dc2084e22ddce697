import type { ByteSource } from '../files/byte-source.ts';
import type { StorageLocks } from '../locks/storage-locks.ts';
import type { StorageSignals } from '../locks/storage-signals.ts';
import type { OpenedStore } from '../opened-store.ts';
import type { LastFailure } from '../last-failure.ts';
import type { StorageError } from '../storage-error.ts';

/** Where the bytes are kept. Always visible to the app; never changed behind its back. */
export type Persistence = 'opfs' | 'indexeddb' | 'memory';

/**
 * One open file, synchronous like an OPFS access handle. Methods may throw what a browser throws (`QuotaExceededError`,
 * `InvalidStateError`) and `write` may return another count than was asked: the guardian (`guarded-file.ts`) gives that
 * a meaning.
 */
export interface StorageFile {
  /** Returns how many bytes there were; fewer than asked at the end of the file. */
  read(into: Uint8Array, at: number): number;
  write(from: Uint8Array, at: number): number;
  truncate(sizeBytes: number): void;
  /** Returns once everything written before survives a power cut. */
  flush(): void;
  sizeBytes(): number;
  close(): void;
}

/**
 * A place that holds files: the origin-private file system, memory, a simulated disk. Whoever opens a file twice sees
 * the same bytes at once, in the order in which they were written; that is all that the write-ahead log asks for.
 */
export interface FileMedium {
  readonly kind: string;
  readonly persistence: Persistence;
  /** Whether readers may open the files beside the writer; without it, one opener at a time. */
  readonly allowsReaders: boolean;
  readonly locks: StorageLocks;
  readonly signals: StorageSignals;
  /**
   * Names of what is missing here, empty when the medium can be used. Throws `storage-ephemeral` in a private window
   * that keeps nothing.
   */
  missing(): Promise<readonly string[]>;
  /** How much more can be stored, about; `undefined` when nobody says. */
  freeBytes(): Promise<number | undefined>;
  /** `undefined` when the file does not exist and `create` is false. */
  open(fileName: string, create: boolean): Promise<StorageFile | undefined>;
  /** Gives a file that nobody has open another name, which no file has. Does nothing when there is no such file. */
  rename(fileName: string, newName: string): Promise<void>;
  remove(fileName: string): Promise<void>;
  list(): Promise<readonly string[]>;
  /** `undefined` when the file does not exist. */
  sizeBytes(fileName: string): Promise<number | undefined>;
}

/** Sizes on the medium, in bytes. The log's segments keep their length for reuse; a medium without a log has 0. */
export interface StorageSizes {
  readonly databaseBytes: number;
  readonly logBytes: number;
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
  /** Sees the new content, may change it, stops the replacement by throwing, and closes what it was given. */
  readonly check: (opened: OpenedStore, failure: LastFailure) => Promise<void>;
}

/** A place without synchronous files (IndexedDB): it keeps whole databases in its own way. Names were checked. */
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
  remove(name: string): Promise<void>;
  openExport(name: string): Promise<ByteSource>;
  /** Puts `content` in the place of what is there, in one step. */
  replace(name: string, content: AsyncIterable<Uint8Array>, options: ReplaceOptions): Promise<void>;
}

export type Medium = FileMedium | StoreMedium;
