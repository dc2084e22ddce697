import type { StorageLocks } from '../locks/storage-locks.ts';
import type { Persistence, StoreMedium } from '../media/medium.ts';
import { StorageError, errorFromMedium } from '../storage-error.ts';
import type { ExtentBackend, ExtentPlace } from './extent-backend.ts';
import { ExtentStore } from './extent-store.ts';

export interface ExtentMediumOptions {
  readonly kind: string;
  readonly persistence: Persistence;
  readonly place: ExtentPlace;
  readonly locks: StorageLocks;
  readonly budgetBytes: number;
  missing(): Promise<readonly string[]>;
}

/** A medium whose databases live in memory and are written behind, with one opener at a time. */
export function extentMedium(options: ExtentMediumOptions): StoreMedium {
  const { kind, persistence, place, locks, budgetBytes, missing } = options;

  async function hold(name: string, timeoutMs: number): Promise<() => void> {
    const release = await locks.request(`rockpool:${name}:${kind}-writer`, 'exclusive', timeoutMs);
    if (release === undefined) throw new StorageError('storage-busy', { name, holder: 'a writer', timeoutMs });
    return release;
  }

  return {
    kind,
    persistence,
    allowsReaders: false,
    missing,
    async openWriter({ name, timeoutMs, isStrict, pageSizeBytes, onError, onUndone }) {
      const release = await hold(name, timeoutMs);
      let backend: ExtentBackend | undefined;
      try {
        backend = await place.open(name, isStrict);
        const store = new ExtentStore(backend, await backend.load(), pageSizeBytes, budgetBytes, { onError, onUndone });
        return openedRole(store, backend, isStrict, release);
      } catch (cause) {
        backend?.close();
        release();
        throw errorFromMedium(cause, 'open');
      }
    },
    list: () => place.list(),
    async sizes(name) {
      return (await place.exists(name)) ? { databaseBytes: await place.sizeBytes(name), logBytes: 0 } : undefined;
    },
    async remove(name) {
      const release = await hold(name, 0);
      try {
        await place.remove(name);
      } finally {
        release();
      }
    },
    async exportFile(name) {
      if (!(await place.exists(name))) throw new StorageError('storage-missing', { name });
      const release = await hold(name, 0);
      let backend: ExtentBackend | undefined;
      try {
        backend = await place.open(name, false);
        const store = new ExtentStore(backend, await backend.load(), 4096, Infinity);
        const bytes = new Uint8Array(store.sizeBytes());
        store.read(bytes, 0, bytes.length, 0);
        return bytes;
      } finally {
        backend?.close();
        release();
      }
    },
  };
}

function openedRole(store: ExtentStore, backend: ExtentBackend, isStrict: boolean, release: () => void): Awaited<ReturnType<StoreMedium['openWriter']>> {
  const { queue } = store;
  return {
    store,
    dirtySinceMs: () => queue.pendingSinceMs,
    flush() {
      if (isStrict && queue.pendingSinceMs === undefined) return;
      throw new StorageError('storage-unsupported', { operation: 'flush', missing: ['a synchronous flush: open as strict and await committed()'] });
    },
    committed: () => queue.committed(),
    async checkpoint() {
      await queue.committed();
      return true;
    },
    async close() {
      try {
        await queue.committed();
      } finally {
        backend.close();
        release();
      }
    },
  };
}
