export const EXTENT_BYTES = 65536;

/** 1 MB: one read of this size takes as long as nine reads of 4 KB, and a size of 2 MB has no measurable benefit. */
const MAX_RUN_EXTENTS = 16;
/** A scan alternates between several places, because tables and indexes grew together, so several runs are kept. */
const RUNS = 4;

/**
 * A bounded cache of 64 KB extents of the database **as the connection's snapshot sees it**, log included. A cached
 * page is current, so a hit needs neither the log's index nor the file. Code that reads a newer page patches it here or
 * drops its extent.
 *
 * The cache has two parts. Extents read individually stay while they are used; eviction is CLOCK, a hand that moves
 * round and keeps what was used since its last visit. Extents read ahead go through a few buffers in turn: SQLite's own
 * cache keeps the pages of a scan, so they would only evict everything else here; and reading into memory that is
 * already in use takes a fifth of the time of reading into fresh memory.
 */
export class ExtentPool {
  /** How many adjacent extents one read may fill. */
  readonly runExtents: number;
  readonly #capacity: number;
  readonly #slots = new Map<number, number>();
  /** The extent in each slot: first the slots of the clock, then those of the runs. -1 for an empty slot. */
  readonly #extents: Int32Array;
  /** Buffer by slot, allocated on first use. */
  readonly #buffers: Uint8Array[];
  readonly #runs: Uint8Array[] = [];
  readonly #used: Uint8Array;
  #grown = 0;
  #hand = 0;
  #nextRun = 0;
  // The extent found last. Consecutive pages mostly share it, and a comparison is cheaper than a lookup.
  #lastExtent = -1;
  #lastSlot = -1;

  constructor(sizeBytes: number) {
    const total = Math.max(4, Math.floor(sizeBytes / EXTENT_BYTES));
    this.runExtents = Math.max(1, Math.min(MAX_RUN_EXTENTS, Math.floor(total / (2 * RUNS))));
    this.#capacity = total - (this.runExtents > 1 ? RUNS * this.runExtents : 0);
    this.#extents = new Int32Array(total).fill(-1);
    this.#buffers = new Array<Uint8Array>(total);
    this.#used = new Uint8Array(total);
  }

  /** Returns the extent's bytes, or `undefined` when it is not cached. */
  find(extent: number): Uint8Array | undefined {
    if (extent === this.#lastExtent) return this.#buffers[this.#lastSlot];
    const slot = this.#slots.get(extent);
    if (slot === undefined) return undefined;
    this.#used[slot] = 1;
    this.#lastExtent = extent;
    this.#lastSlot = slot;
    return this.#buffers[slot];
  }

  has(extent: number): boolean {
    return this.#slots.has(extent);
  }

  /** Returns a buffer for an extent that is not cached. The caller fills it, or calls `drop` if it cannot. */
  take(extent: number): Uint8Array {
    const slot = this.#grown < this.#capacity ? this.#grow() : this.#evict();
    this.#hold(extent, slot);
    return this.#buffers[slot]!;
  }

  /** Like `take`, for 2 to `runExtents` adjacent extents in one buffer, so that one read fills them. */
  takeRun(extent: number, count: number): Uint8Array {
    const run = this.#nextRun;
    this.#nextRun = (run + 1) % RUNS;
    const buffer = (this.#runs[run] ??= new Uint8Array(this.runExtents * EXTENT_BYTES));
    const firstSlot = this.#capacity + run * this.runExtents;
    for (let index = 0; index < this.runExtents; index += 1) {
      const slot = firstSlot + index;
      this.#buffers[slot] ??= buffer.subarray(index * EXTENT_BYTES, (index + 1) * EXTENT_BYTES);
      this.#leave(slot);
      if (index < count) this.#hold(extent + index, slot);
    }
    return buffer.subarray(0, count * EXTENT_BYTES);
  }

  /** Replaces part of the database with newer bytes, if it is cached. */
  patch(from: Uint8Array, fromOffset: number, at: number, length: number): void {
    if (this.#slots.size === 0) return;
    const buffer = this.find(Math.floor(at / EXTENT_BYTES));
    if (buffer !== undefined) buffer.set(from.subarray(fromOffset, fromOffset + length), at % EXTENT_BYTES);
  }

  /** Drops the extent that contains this offset. */
  dropAt(at: number): void {
    this.drop(Math.floor(at / EXTENT_BYTES));
  }

  drop(extent: number): void {
    const slot = this.#slots.get(extent);
    if (slot === undefined) return;
    this.#slots.delete(extent);
    this.#extents[slot] = -1;
    this.#used[slot] = 0;
    this.#lastExtent = -1;
  }

  /** Drops every extent that reaches beyond this size. */
  dropBeyond(sizeBytes: number): void {
    for (const extent of this.#slots.keys()) if ((extent + 1) * EXTENT_BYTES > sizeBytes) this.drop(extent);
  }

  clear(): void {
    for (const extent of this.#slots.keys()) this.drop(extent);
  }

  #hold(extent: number, slot: number): void {
    this.#slots.set(extent, slot);
    this.#extents[slot] = extent;
    this.#used[slot] = 1;
  }

  #leave(slot: number): void {
    const extent = this.#extents[slot]!;
    if (extent !== -1) this.drop(extent);
  }

  #grow(): number {
    const slot = this.#grown;
    this.#grown += 1;
    this.#buffers[slot] = new Uint8Array(EXTENT_BYTES);
    return slot;
  }

  #evict(): number {
    for (;;) {
      const slot = this.#hand;
      this.#hand = (slot + 1) % this.#capacity;
      if (this.#used[slot] === 1) {
        this.#used[slot] = 0;
        continue;
      }
      this.#leave(slot);
      return slot;
    }
  }
}
