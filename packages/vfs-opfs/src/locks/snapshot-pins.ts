import { snapshotLockName } from './storage-locks.ts';
import type { StorageLocks } from './storage-locks.ts';

/**
 * A reader's locks on the generation in which its snapshot ends. The old generation is released only when the new one
 * is locked. Until then the old lock protects both, because generations are moved into the database file in order. A
 * read transaction, which cannot wait, may therefore use the new generation at once and lock it later.
 */
export class SnapshotPins {
  readonly #locks: StorageLocks;
  readonly #storageName: string;
  readonly #held = new Map<number, () => void>();
  #wanted = -1;
  #isClosed = false;

  constructor(locks: StorageLocks, storageName: string) {
    this.#locks = locks;
    this.#storageName = storageName;
  }

  /** Resolves to false when the lock was not granted in time. */
  async acquire(generation: number, timeoutMs: number): Promise<boolean> {
    this.#wanted = generation;
    if (this.#held.has(generation)) return true;
    const release = await this.#locks.request(snapshotLockName(this.#storageName, generation), 'shared', timeoutMs);
    if (release === undefined) return false;
    if (this.#isClosed || this.#wanted > generation || this.#held.has(generation)) {
      release();
      return false;
    }
    this.#held.set(generation, release);
    for (const [other, releaseOther] of this.#held) {
      if (other === generation) continue;
      this.#held.delete(other);
      releaseOther();
    }
    return true;
  }

  /** Requests the lock of `generation` and does not wait for it. */
  moveTo(generation: number): void {
    if (generation === this.#wanted) return;
    // A reader without its lock is still safe, and at worst has to read again, so a failure needs no handling.
    void this.acquire(generation, MAX_WAIT_MS).catch(() => undefined);
  }

  releaseAll(): void {
    for (const release of this.#held.values()) release();
    this.#held.clear();
    this.#wanted = -1;
  }

  close(): void {
    this.#isClosed = true;
    this.releaseAll();
  }
}

/** Longer than any WAL checkpoint in progress; limits a request that is never granted. */
const MAX_WAIT_MS = 60_000;
