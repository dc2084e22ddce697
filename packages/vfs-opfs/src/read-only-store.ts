import type { DatabaseStore } from './database-store.ts';
import { StorageError } from './storage-error.ts';

/**
 * Bytes 24 to 39 of the file. SQLite compares them at the start of a read transaction to find out whether its page
 * cache is stale.
 */
const CHANGE_COUNTER_AT = 24;
const CHANGE_COUNTER_BYTES = 16;

/** The common part of all readers: rejects writes, and can make SQLite drop its page cache. */
export abstract class ReadOnlyStore implements DatabaseStore {
  readonly isReadOnly = true;
  #mustInvalidateSqliteCache = false;

  abstract readonly pageSizeBytes: number;
  abstract beginRead(): void;
  abstract endRead(): void;
  abstract sizeBytes(): number;
  /** Reads from the snapshot as `DatabaseStore.read` does. */
  protected abstract readSnapshot(heap: Uint8Array, target: number, length: number, at: number): number;

  read(heap: Uint8Array, target: number, length: number, at: number): number {
    const count = this.readSnapshot(heap, target, length, at);
    if (this.#mustInvalidateSqliteCache && at === CHANGE_COUNTER_AT && length === CHANGE_COUNTER_BYTES) {
      this.#mustInvalidateSqliteCache = false;
      heap[target] = heap[target]! ^ 0xff;
    }
    return count;
  }

  write(): void {
    throw refused('write');
  }

  truncate(): void {
    throw refused('truncate');
  }

  // SQLite opens the file read-only, so commit and rollback have nothing to do.
  commit(): void {}
  rollback(): void {}

  /**
   * Makes SQLite drop its page cache at the next read transaction, even if the change counter happens to equal the one
   * in its cache.
   */
  protected invalidateSqliteCache(): void {
    this.#mustInvalidateSqliteCache = true;
  }
}

function refused(operation: string): StorageError {
  return new StorageError('storage-failed', { operation, reason: 'the storage is opened as a reader' });
}
