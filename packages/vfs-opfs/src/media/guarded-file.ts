import { StorageError, errorFromMedium } from '../storage-error.ts';
import type { StorageFile } from './medium.ts';

/**
 * A file with typed failures. A write is either complete or throws.
 *
 * A write over quota throws in Safari, is short in Firefox, and returns 4294967288 in Chromium 150 and later (a
 * negative error code read as unsigned). So any count other than the requested one means that the storage is full.
 */
export class GuardedFile {
  readonly #file: StorageFile;

  constructor(file: StorageFile) {
    this.#file = file;
  }

  read(into: Uint8Array, at: number): number {
    try {
      return this.#file.read(into, at);
    } catch (cause) {
      throw errorFromMedium(cause, 'read');
    }
  }

  /** Reads exactly `into.length` bytes; bytes beyond the end of the file read as zeros. */
  readOrZeros(into: Uint8Array, at: number): void {
    const count = this.read(into, at);
    if (count < into.length) into.fill(0, count);
  }

  write(from: Uint8Array, at: number): void {
    let count: number;
    try {
      count = this.#file.write(from, at);
    } catch (cause) {
      throw errorFromMedium(cause, 'write');
    }
    if (count !== from.length)
      throw new StorageError('storage-full', { operation: 'write', askedBytes: from.length, returned: count });
  }

  truncate(sizeBytes: number): void {
    try {
      this.#file.truncate(sizeBytes);
    } catch (cause) {
      throw errorFromMedium(cause, 'truncate');
    }
  }

  flush(): void {
    try {
      this.#file.flush();
    } catch (cause) {
      throw errorFromMedium(cause, 'flush');
    }
  }

  sizeBytes(): number {
    try {
      return this.#file.sizeBytes();
    } catch (cause) {
      throw errorFromMedium(cause, 'size');
    }
  }

  close(): void {
    try {
      this.#file.close();
    } catch (cause) {
      throw errorFromMedium(cause, 'close');
    }
  }
}
