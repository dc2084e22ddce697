import type { DatabaseStore } from './database-store.ts';
import { StorageError } from './storage-error.ts';

/**
 * Bytes 24 to 39 of the file: SQLite compares them at the start of a read transaction to learn whether its page cache
 * is stale.
 */
const CHANGE_COUNTER_AT = 24;
const CHANGE_COUNTER_BYTES = 16;

/**
 * What readers have in common, whatever they read from: they refuse to write, and can make SQLite forget its page
 * cache.
 */
export abstract class ReadOnlyStore implements DatabaseStore {
  readonly isReadOnly = true;
  #mustInvalidateSqliteCache = false;

  abstract readonly pageSizeBytes: number;
  abstract beginRead(): void;
  abstract endRead(): void;
  abstract sizeBytes(): number;
  /** As `read` of the interface, of the snapshot as it is. */
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

  // SQLite opens the file read-only, so there is never anything to commit.
  commit(): void {}
  rollback(): void {}

  /**
   * From the next read transaction on SQLite reads everything anew, also when the change counter is by chance the one
   * that it remembers.
   */
  protected invalidateSqliteCache(): void {
    this.#mustInvalidateSqliteCache = true;
  }
}

function refused(operation: string): StorageError {
  return new StorageError('storage-failed', { operation, reason: 'opened as reader' });
}
