/** Compares pages in SQLite's memory with what they were before. */
export interface PieceComparer {
  /** The address of `roomBytes` of SQLite's memory, for the old content. */
  readonly room: number;
  readonly roomBytes: number;
  /**
   * Compares `count` pieces at `source` with those in the room, at most 32 pieces of a multiple of 32 bytes. Bit i of
   * the result is set if piece i differs.
   */
  changedPieces(source: number, pieceBytes: number, count: number): number;
}

/**
 * The interface between SQLite's VFS and the storage below it. The stores over the write-ahead log (`writer-store.ts`,
 * `reader-store.ts`) implement it for every medium with synchronous files; IndexedDB, which has none, has its own store
 * behind the same methods.
 *
 * Methods throw a `StorageError`; the VFS turns it into a SQLite result code.
 */
export interface DatabaseStore {
  readonly isReadOnly: boolean;
  /** Page size that SQLite uses for a new database. */
  readonly pageSizeBytes: number;
  /** Begins a read transaction: until `endRead`, all reads see one snapshot, which is the latest commit. */
  beginRead(): void;
  endRead(): void;
  sizeBytes(): number;
  /** Copies into `heap[target, target + length)` and returns the number of bytes available; the rest is unchanged. */
  read(heap: Uint8Array, target: number, length: number, at: number): number;
  /**
   * Adds to the open transaction, which only this connection can see until `commit`. With a comparer, a store may leave
   * out what equals the last commit.
   */
  write(heap: Uint8Array, source: number, length: number, at: number, comparer?: PieceComparer): void;
  truncate(sizeBytes: number): void;
  /** Commits everything written since the last `commit` or `rollback`, or throws and commits nothing. */
  commit(): void;
  rollback(): void;
}
