const CHUNK_BYTES = 65536;

/**
 * A file that does not outlive the connection: temporary tables, sorter runs, statement journals, and the rollback
 * journal once SQLite's page cache overflows. It consists of chunks, so that no bytes are copied when it grows.
 */
export class MemoryFile {
  readonly #chunks: (Uint8Array | undefined)[] = [];
  #sizeBytes = 0;

  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  /** Returns the number of bytes read. */
  read(heap: Uint8Array, target: number, length: number, at: number): number {
    const count = Math.max(0, Math.min(length, this.#sizeBytes - at));
    for (let done = 0; done < count;) {
      const offset = (at + done) % CHUNK_BYTES;
      const step = Math.min(count - done, CHUNK_BYTES - offset);
      const chunk = this.#chunks[Math.floor((at + done) / CHUNK_BYTES)];
      if (chunk === undefined) heap.fill(0, target + done, target + done + step);
      else heap.set(chunk.subarray(offset, offset + step), target + done);
      done += step;
    }
    return count;
  }

  write(heap: Uint8Array, source: number, length: number, at: number): void {
    for (let done = 0; done < length;) {
      const index = Math.floor((at + done) / CHUNK_BYTES);
      const offset = (at + done) % CHUNK_BYTES;
      const step = Math.min(length - done, CHUNK_BYTES - offset);
      const chunk = (this.#chunks[index] ??= new Uint8Array(CHUNK_BYTES));
      chunk.set(heap.subarray(source + done, source + done + step), offset);
      done += step;
    }
    this.#sizeBytes = Math.max(this.#sizeBytes, at + length);
  }

  truncate(sizeBytes: number): void {
    if (sizeBytes < this.#sizeBytes) {
      this.#chunks.length = Math.min(this.#chunks.length, Math.ceil(sizeBytes / CHUNK_BYTES));
      this.#chunks.at(-1)?.fill(0, sizeBytes % CHUNK_BYTES === 0 ? CHUNK_BYTES : sizeBytes % CHUNK_BYTES);
    }
    this.#sizeBytes = sizeBytes;
  }
}
