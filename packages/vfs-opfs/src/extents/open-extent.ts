/**
 * If there are more ranges than this, they are merged into one, because so many writes usually change most of the
 * extent.
 */
const MAX_RANGES = 8;

/** The open transaction's copy of an extent, with the ranges that were written. Only these are searched for changes. */
export class OpenExtent {
  readonly bytes: Uint8Array;
  /** Start and end of each written range, flattened, in the order of the writes. */
  readonly written: number[] = [];

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }

  write(heap: Uint8Array, source: number, length: number, offset: number): void {
    this.bytes.set(heap.subarray(source, source + length), offset);
    this.#note(offset, offset + length);
  }

  clearFrom(offset: number): void {
    this.bytes.fill(0, offset);
    this.#note(offset, this.bytes.length);
  }

  #note(from: number, to: number): void {
    const { written } = this;
    const last = written.length - 1;
    // Writes are mostly sequential, and sometimes repeat the same page.
    if (last > 0 && from <= written[last]! && from >= written[last - 1]!) written[last] = Math.max(written[last]!, to);
    else if (written.length < 2 * MAX_RANGES) written.push(from, to);
    else written.splice(0, written.length, Math.min(from, ...written), Math.max(to, ...written));
  }
}
