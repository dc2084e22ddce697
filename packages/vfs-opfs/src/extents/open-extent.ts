/** More stretches than this count as one: a transaction that writes here and there in an extent changes most of it. */
const MAX_RANGES = 8;

/**
 * An extent that the open transaction changes: a copy of its own, and where it was written, so that only that is
 * searched for changes.
 */
export class OpenExtent {
  readonly bytes: Uint8Array;
  /** From and to of each stretch that was written, one after the other, in the order of the writes. */
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
    // Neighbours mostly come one after the other, and the same page sometimes again.
    if (last > 0 && from <= written[last]! && from >= written[last - 1]!) written[last] = Math.max(written[last]!, to);
    else if (written.length < 2 * MAX_RANGES) written.push(from, to);
    else written.splice(0, written.length, Math.min(from, ...written), Math.max(to, ...written));
  }
}
