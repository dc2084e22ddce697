import type { DatabaseStore } from '../database-store.ts';
import { StorageError } from '../storage-error.ts';
import type { ExtentPages, ExtentSnapshot } from './extent-pages.ts';

/** Bytes 24 to 39 of the file: SQLite compares them at the start of a read transaction to learn whether its page cache is stale. */
const CHANGE_COUNTER_AT = 24;
const CHANGE_COUNTER_BYTES = 16;

/** A reader in the writer's worker: each read transaction is of the extents that were committed when it began. */
export class ExtentReaderStore implements DatabaseStore {
  readonly isReadOnly = true;
  readonly pageSizeBytes: number;
  readonly #pages: ExtentPages;
  #snapshot: ExtentSnapshot;
  /** Set when commits were undone since: the change counter of other ones that came in their place might be the one that SQLite remembers. */
  #mustLookChanged = false;

  constructor(pages: ExtentPages, pageSizeBytes: number) {
    this.#pages = pages;
    this.pageSizeBytes = pageSizeBytes;
    this.#snapshot = pages.snapshot();
  }

  beginRead(): void {
    const next = this.#pages.snapshot();
    this.#mustLookChanged ||= next.timesReplaced !== this.#snapshot.timesReplaced;
    this.#snapshot = next;
  }

  endRead(): void {}

  sizeBytes(): number {
    return this.#snapshot.sizeBytes;
  }

  read(heap: Uint8Array, target: number, length: number, at: number): number {
    const count = this.#snapshot.read(heap, target, length, at);
    if (this.#mustLookChanged && at === CHANGE_COUNTER_AT && length === CHANGE_COUNTER_BYTES) {
      this.#mustLookChanged = false;
      heap[target] = heap[target]! ^ 0xff;
    }
    return count;
  }

  write(): void {
    throw new StorageError('storage-failed', { operation: 'write', reason: 'opened as reader' });
  }

  truncate(): void {
    throw new StorageError('storage-failed', { operation: 'truncate', reason: 'opened as reader' });
  }

  // SQLite opens the file read-only, so there is never anything to commit.
  commit(): void {}
  rollback(): void {}
}
