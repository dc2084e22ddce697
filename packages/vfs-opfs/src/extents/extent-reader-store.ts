import { ReadOnlyStore } from '../read-only-store.ts';
import type { ExtentPages, ExtentSnapshot } from './extent-pages.ts';

/** A reader in the writer's worker. Each read transaction sees the extents committed when it began. */
export class ExtentReaderStore extends ReadOnlyStore {
  readonly pageSizeBytes: number;
  readonly #pages: ExtentPages;
  #snapshot: ExtentSnapshot;

  constructor(pages: ExtentPages, pageSizeBytes: number) {
    super();
    this.#pages = pages;
    this.pageSizeBytes = pageSizeBytes;
    this.#snapshot = pages.snapshot();
  }

  beginRead(): void {
    const next = this.#pages.snapshot();
    // Commits were undone since the last read, and other commits may have replaced them.
    if (next.timesReplaced !== this.#snapshot.timesReplaced) this.invalidateSqliteCache();
    this.#snapshot = next;
  }

  endRead(): void {}

  sizeBytes(): number {
    return this.#snapshot.sizeBytes;
  }

  protected readSnapshot(heap: Uint8Array, target: number, length: number, at: number): number {
    return this.#snapshot.read(heap, target, length, at);
  }
}
