import type { DatabaseStore } from '../database-store.ts';
import { SQLITE_HEADER_BYTES, checkSqliteHeader } from '../sqlite-file-header.ts';
import { StorageError, errorFromMedium } from '../storage-error.ts';
import { CommitQueue } from './commit-queue.ts';
import type { ExtentBackend, LoadedExtents } from './extent-backend.ts';
import { ExtentPages } from './extent-pages.ts';
import { ExtentReaderStore } from './extent-reader-store.ts';

export interface ExtentListeners {
  readonly onError: (error: unknown) => void;
  /** Called after the pages were loaded again without the commits that the medium rejected. */
  readonly onUndone: (error: StorageError) => void;
}

const NO_LISTENERS: ExtentListeners = { onError: () => undefined, onUndone: () => undefined };

/**
 * The writer's database on a medium without synchronous files: pages in memory, batches stored asynchronously.
 *
 * COMMIT returns before the medium has the commit; `committed` resolves when it has. When the medium rejects a batch,
 * everything since the last batch that took effect is undone: the pages are loaded again, and a transaction that was
 * open over the lost pages fails at its next step. SQLite drops its page cache by itself, because every undone commit
 * had raised the change counter in page 1.
 */
export class ExtentStore implements DatabaseStore {
  readonly isReadOnly = false;
  readonly pageSizeBytes: number;
  readonly queue: CommitQueue;

  readonly #backend: ExtentBackend;
  readonly #pages: ExtentPages;
  readonly #listeners: ExtentListeners;
  #failure: StorageError | undefined;
  #isLoaded = true;
  #isReading = false;

  constructor(
    backend: ExtentBackend,
    loaded: LoadedExtents,
    newPageSizeBytes: number,
    budgetBytes: number,
    listeners: ExtentListeners = NO_LISTENERS,
  ) {
    this.#backend = backend;
    this.#pages = new ExtentPages(budgetBytes);
    this.#pages.replace(loaded);
    this.#listeners = listeners;
    this.pageSizeBytes = this.#pageSize() ?? newPageSizeBytes;
    this.queue = new CommitQueue(
      () => backend.write(this.#pages.takeBatch()),
      (cause) => this.#loadAgain(cause),
    );
  }

  beginRead(): void {
    this.#assertSound();
    this.#isReading = true;
  }

  endRead(): void {
    this.#isReading = false;
    this.#recover();
  }

  sizeBytes(): number {
    return this.#pages.sizeBytes;
  }

  read(heap: Uint8Array, target: number, length: number, at: number): number {
    this.#assertSound();
    return this.#pages.read(heap, target, length, at);
  }

  write(heap: Uint8Array, source: number, length: number, at: number): void {
    this.#assertSound();
    this.#pages.write(heap, source, length, at);
  }

  truncate(sizeBytes: number): void {
    this.#assertSound();
    this.#pages.truncate(sizeBytes);
  }

  commit(): void {
    this.#assertSound();
    if (this.#pages.commit()) this.queue.add();
  }

  rollback(): void {
    this.#pages.rollback();
  }

  openReader(): DatabaseStore {
    return new ExtentReaderStore(this.#pages, this.pageSizeBytes);
  }

  /** Returns `undefined` for an empty database. Throws `storage-corrupt`. */
  #pageSize(): number | undefined {
    if (this.#pages.sizeBytes === 0) return undefined;
    const header = new Uint8Array(SQLITE_HEADER_BYTES);
    this.#pages.read(header, 0, header.length, 0);
    return checkSqliteHeader(header, this.#pages.sizeBytes).pageSizeBytes;
  }

  #assertSound(): void {
    if (this.#failure !== undefined) throw this.#failure;
  }

  async #loadAgain(cause: unknown): Promise<StorageError> {
    const error = errorFromMedium(cause, 'commit');
    this.#failure = error;
    this.#isLoaded = false;
    this.#listeners.onError(error);
    try {
      this.#pages.replace(await this.#backend.load());
      this.#isLoaded = true;
      this.#recover();
      this.#listeners.onUndone(error);
    } catch (again) {
      // The storage stays failed: only another opening can find the reason, so it counts as lost.
      const { fields } = errorFromMedium(again, 'load');
      this.#failure = new StorageError('storage-lost', fields);
      this.#listeners.onError(this.#failure);
    }
    return error;
  }

  #recover(): void {
    if (this.#isLoaded && !this.#isReading) this.#failure = undefined;
  }
}
