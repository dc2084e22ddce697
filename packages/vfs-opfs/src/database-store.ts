/**
 * What the VFS asks of a medium's database: the seam between SQLite and everything below. The stores over the
 * write-ahead log (`writer-store.ts`, `reader-store.ts`) implement it for all media with synchronous files; a medium
 * without them (IndexedDB) has its own store behind the same methods.
 *
 * Methods throw a `StorageError`; the VFS turns it into a SQLite result code.
 */
export interface DatabaseStore {
  readonly isReadOnly: boolean;
  /** What a new database takes as its page size. */
  readonly pageSizeBytes: number;
  /** A read transaction begins: from now on, until `endRead`, all reads are of one snapshot, the latest commit. */
  beginRead(): void;
  endRead(): void;
  sizeBytes(): number;
  /** Copies into `heap[target, target + length)`; returns how many bytes there were, the rest is left alone. */
  read(heap: Uint8Array, target: number, length: number, at: number): number;
  /** Takes part of the open transaction; nobody else sees it before `commit`. */
  write(heap: Uint8Array, source: number, length: number, at: number): void;
  truncate(sizeBytes: number): void;
  /** Everything written since the last `commit` or `rollback` takes effect, or nothing does and this throws. */
  commit(): void;
  rollback(): void;
}
