import { InProcessLocks } from '../locks/in-process-locks.ts';
import type { FileMedium, StorageFile } from './medium.ts';

/**
 * Files in this process's memory, for tests and for apps that ask for it. Nothing survives the process, and
 * `persistence` is `memory`. Storages opened on the same medium object share its files.
 */
export function memoryMedium(): FileMedium {
  const files = new Map<string, MemoryBytes>();
  const owner = new InProcessLocks().owner();
  return {
    kind: 'memory',
    persistence: 'memory',
    allowsReaders: true,
    locks: owner,
    signals: owner,
    async missing() {
      return [];
    },
    async freeBytes() {
      return undefined;
    },
    async open(fileName, create) {
      const bytes = files.get(fileName) ?? (create ? new MemoryBytes() : undefined);
      if (bytes !== undefined) files.set(fileName, bytes);
      return bytes === undefined ? undefined : openBytes(bytes);
    },
    async rename(fileName, newName) {
      const bytes = files.get(fileName);
      if (bytes === undefined) return;
      files.set(newName, bytes);
      files.delete(fileName);
    },
    async remove(fileName) {
      files.delete(fileName);
    },
    async list() {
      return [...files.keys()];
    },
    async sizeBytes(fileName) {
      return files.get(fileName)?.sizeBytes;
    },
  };
}

/** The content of a file in one buffer that doubles as it grows. */
export class MemoryBytes {
  #buffer = new Uint8Array(0);
  sizeBytes = 0;

  read(into: Uint8Array, at: number): number {
    const count = Math.max(0, Math.min(into.length, this.sizeBytes - at));
    into.set(this.#buffer.subarray(at, at + count));
    return count;
  }

  write(from: Uint8Array, at: number): number {
    if (at + from.length > this.sizeBytes) this.truncate(at + from.length);
    this.#buffer.set(from, at);
    return from.length;
  }

  truncate(sizeBytes: number): void {
    if (sizeBytes > this.#buffer.length) {
      const grown = new Uint8Array(Math.max(sizeBytes, 2 * this.#buffer.length));
      grown.set(this.#buffer.subarray(0, this.sizeBytes));
      this.#buffer = grown;
    } else if (sizeBytes < this.sizeBytes) {
      this.#buffer.fill(0, sizeBytes, this.sizeBytes);
    }
    this.sizeBytes = sizeBytes;
  }
}

function openBytes(bytes: MemoryBytes): StorageFile {
  return {
    read: (into, at) => bytes.read(into, at),
    write: (from, at) => bytes.write(from, at),
    truncate: (sizeBytes) => bytes.truncate(sizeBytes),
    flush: () => undefined,
    sizeBytes: () => bytes.sizeBytes,
    close: () => undefined,
  };
}
