import type { Generation } from '../log/generation.ts';
import type { GuardedFile } from '../media/guarded-file.ts';
import { StorageError } from '../storage-error.ts';
import { EXTENT_BYTES, ExtentPool } from './extent-pool.ts';

/** The three files of a database: the SQLite file itself and the two segments of its log. */
export interface DatabaseFiles {
  readonly database: GuardedFile;
  readonly segments: readonly [GuardedFile, GuardedFile];
}

/**
 * Validates a read: a reader checks whether a segment was reused or the database file changed meanwhile
 * (`log-follower.ts`). `again` means that the view was corrected and must be read again.
 */
export type ReadCheck = (usedSealed: boolean) => 'good' | 'again';

/** The database at one snapshot: the database file with the log's pages over it, behind a bounded pool. */
export class PageView {
  readonly files: DatabaseFiles;
  readonly pageSizeBytes: number;
  readonly pool: ExtentPool;
  active: Generation;
  sealed: Generation | undefined;
  check: ReadCheck | undefined;

  readonly #pagesPerExtent: number;
  #lastMiss = -2;
  #readAheadExtents = 1;
  #isLogShort = false;

  constructor(
    files: DatabaseFiles,
    pageSizeBytes: number,
    poolSizeBytes: number,
    active: Generation,
    sealed: Generation | undefined,
  ) {
    this.files = files;
    this.pageSizeBytes = pageSizeBytes;
    this.pool = new ExtentPool(poolSizeBytes);
    this.active = active;
    this.sealed = sealed;
    this.#pagesPerExtent = EXTENT_BYTES / pageSizeBytes;
  }

  get sizeBytes(): number {
    return this.active.sizeBytes;
  }

  /** Copies `length` bytes at `at` to `into[target…]`. The caller stays within the database's size. */
  read(into: Uint8Array, target: number, length: number, at: number): void {
    let extent = Math.floor(at / EXTENT_BYTES);
    let offset = at - extent * EXTENT_BYTES;
    let done = 0;
    do {
      const count = Math.min(length - done, EXTENT_BYTES - offset);
      const bytes = this.pool.find(extent) ?? this.#load(extent);
      into.set(bytes.subarray(offset, offset + count), target + done);
      done += count;
      extent += 1;
      offset = 0;
    } while (done < length);
  }

  #load(extent: number): Uint8Array {
    const count = this.#planReadAhead(extent);
    for (;;) {
      try {
        this.#isLogShort = false;
        const usedSealed = this.#fill(extent, count);
        if (this.check === undefined || this.check(usedSealed) === 'good') {
          if (this.#isLogShort)
            throw new StorageError('storage-corrupt', { what: 'the log is shorter than its index' });
          return this.pool.find(extent)!;
        }
      } catch (error) {
        for (let index = 0; index < count; index += 1) this.pool.drop(extent + index);
        throw error;
      }
      for (let index = 0; index < count; index += 1) this.pool.drop(extent + index);
    }
  }

  /** Doubles the read-ahead at sequential misses; after a miss elsewhere, starts again with one extent. */
  #planReadAhead(extent: number): number {
    const isSequential = extent === this.#lastMiss + this.#readAheadExtents;
    let count = isSequential ? Math.min(this.#readAheadExtents * 2, this.pool.runExtents) : 1;
    count = Math.min(count, Math.ceil(this.sizeBytes / EXTENT_BYTES) - extent);
    for (let index = 1; index < count; index += 1) if (this.pool.has(extent + index)) count = index;
    this.#lastMiss = extent;
    this.#readAheadExtents = Math.max(1, count);
    return this.#readAheadExtents;
  }

  /** Fills `count` extents that are not in the pool. Returns whether this used the sealed generation. */
  #fill(extent: number, count: number): boolean {
    // Content of the database file beyond the smallest size since its last WAL checkpoint was truncated and reads as
    // zeros.
    const limit = Math.min(this.active.smallestSizeBytes, this.sealed?.smallestSizeBytes ?? Infinity);
    const from = extent * EXTENT_BYTES;
    let usedSealed = false;
    if (count === 1) {
      const bytes = this.pool.take(extent);
      if (!this.#isWhollyLogged(extent)) this.#readDatabase(bytes, from, limit);
      return this.#overlay(extent, bytes);
    }
    const run = this.pool.takeRun(extent, count);
    this.#readDatabase(run, from, limit);
    for (let index = 0; index < count; index += 1) {
      usedSealed =
        this.#overlay(extent + index, run.subarray(index * EXTENT_BYTES, (index + 1) * EXTENT_BYTES)) || usedSealed;
    }
    return usedSealed;
  }

  #readDatabase(into: Uint8Array, at: number, limit: number): void {
    this.files.database.readOrZeros(into, at);
    if (at + into.length > limit) into.fill(0, Math.max(0, limit - at));
  }

  #isWhollyLogged(extent: number): boolean {
    const firstPage = extent * this.#pagesPerExtent + 1;
    for (let index = 0; index < this.#pagesPerExtent; index += 1) {
      if (!this.active.positions.has(firstPage + index) && this.#sealedPosition(firstPage + index) === undefined)
        return false;
    }
    return true;
  }

  /**
   * Applies the log's pages to an extent. Pages that are adjacent both in the database and in the log are read with one
   * call.
   */
  #overlay(extent: number, bytes: Uint8Array): boolean {
    const { active, sealed, pageSizeBytes } = this;
    if (active.positions.size === 0 && (sealed === undefined || sealed.positions.size === 0)) return false;
    const firstPage = extent * this.#pagesPerExtent + 1;
    let usedSealed = false;
    for (let index = 0; index < this.#pagesPerExtent;) {
      let source = active;
      let position = active.positions.get(firstPage + index);
      if (position === undefined && sealed !== undefined) {
        source = sealed;
        position = this.#sealedPosition(firstPage + index);
      }
      if (position === undefined) {
        index += 1;
        continue;
      }
      usedSealed ||= source === sealed;
      let run = 1;
      while (
        index + run < this.#pagesPerExtent &&
        source.positions.get(firstPage + index + run) === position + run * pageSizeBytes &&
        (source === active || this.#isFromSealed(firstPage + index + run))
      ) {
        run += 1;
      }
      const into = bytes.subarray(index * pageSizeBytes, (index + run) * pageSizeBytes);
      if (this.files.segments[source.segment]!.read(into, position) < into.length) this.#isLogShort = true;
      index += run;
    }
    return usedSealed;
  }

  /**
   * The sealed generation keeps its whole index for the copy into the database file. Pages that were truncated since
   * are ignored here.
   */
  #sealedPosition(page: number): number | undefined {
    if ((page - 1) * this.pageSizeBytes >= this.active.smallestSizeBytes) return undefined;
    return this.sealed?.positions.get(page);
  }

  #isFromSealed(page: number): boolean {
    return !this.active.positions.has(page) && this.#sealedPosition(page) !== undefined;
  }
}
