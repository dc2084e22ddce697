export const EXTENT_BYTES = 65536;

/**
 * A bounded cache of 64 KB extents of the database **as the connection's snapshot sees it**, log included: a page found here is
 * current, so a hit needs neither the log's index nor the file. Whoever learns of a newer page patches it here or drops its extent.
 * Eviction is CLOCK: a hand goes round and spares what was used since it last came by.
 */
export class ExtentPool {
  readonly #capacity: number;
  readonly #slots = new Map<number, number>();
  readonly #extents: number[] = [];
  readonly #buffers: Uint8Array[] = [];
  readonly #used: Uint8Array;
  #hand = 0;
  // The extent found last: consecutive pages mostly share it, and comparing is cheaper than looking up.
  #lastExtent = -1;
  #lastSlot = -1;

  constructor(sizeBytes: number) {
    this.#capacity = Math.max(4, Math.floor(sizeBytes / EXTENT_BYTES));
    this.#used = new Uint8Array(this.#capacity);
  }

  get capacity(): number {
    return this.#capacity;
  }

  /** The extent's bytes, or `undefined` when it is not cached. */
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

  /** A buffer for an extent that is not cached; the caller fills it, or calls `drop` if it cannot. */
  take(extent: number): Uint8Array {
    const slot = this.#buffers.length < this.#capacity ? this.#grow() : this.#evict();
    this.#hold(extent, slot);
    return this.#buffers[slot]!;
  }

  /** The same for neighbours, side by side in one buffer, so that one read fills them; `undefined` once the pool is full. */
  takeRun(extent: number, count: number): Uint8Array | undefined {
    const firstSlot = this.#buffers.length;
    if (firstSlot + count > this.#capacity) return undefined;
    const run = new Uint8Array(count * EXTENT_BYTES);
    for (let index = 0; index < count; index += 1) {
      this.#buffers.push(run.subarray(index * EXTENT_BYTES, (index + 1) * EXTENT_BYTES));
      this.#hold(extent + index, firstSlot + index);
    }
    return run;
  }

  /** Replaces part of the database by newer bytes, where it is cached. */
  patch(from: Uint8Array, fromOffset: number, at: number, length: number): void {
    if (this.#slots.size === 0) return;
    const buffer = this.find(Math.floor(at / EXTENT_BYTES));
    if (buffer !== undefined) buffer.set(from.subarray(fromOffset, fromOffset + length), at % EXTENT_BYTES);
  }

  /** Drops the extent that holds this offset. */
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

  #grow(): number {
    this.#buffers.push(new Uint8Array(EXTENT_BYTES));
    return this.#buffers.length - 1;
  }

  #evict(): number {
    for (;;) {
      const slot = this.#hand;
      this.#hand = (slot + 1) % this.#capacity;
      if (this.#used[slot] === 1) {
        this.#used[slot] = 0;
        continue;
      }
      const extent = this.#extents[slot]!;
      if (extent !== -1) this.drop(extent);
      return slot;
    }
  }
}
