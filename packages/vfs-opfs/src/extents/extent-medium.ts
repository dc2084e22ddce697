import type { StorageLocks } from '../locks/storage-locks.ts';
import type { Persistence, StoreMedium } from '../media/medium.ts';
import { LastFailure } from '../opened-storage.ts';
import { readerRole, type OpenedRole } from '../opened-role.ts';
import { StorageError, errorFromMedium } from '../storage-error.ts';
import type { ExtentBackend, ExtentPlace } from './extent-backend.ts';
import { ExtentStore } from './extent-store.ts';
import { MemoryExtents } from './memory-extents.ts';
import { gather, loadWhole, pagesOf, storeWhole } from './whole-content.ts';

export interface ExtentMediumOptions {
  readonly kind: string;
  readonly persistence: Persistence;
  readonly place: ExtentPlace;
  readonly locks: StorageLocks;
  readonly budgetBytes: number;
  missing(): Promise<readonly string[]>;
  freeBytes(): Promise<number | undefined>;
}

const DEFAULT_TIMEOUT_MS = 3000;
/** The page size of a new database, where there is none. */
const NO_NEW_PAGES = 4096;

/** A medium whose databases live in memory and are written behind, with one opener at a time. */
export function extentMedium(options: ExtentMediumOptions): StoreMedium {
  const { kind, persistence, place, locks, budgetBytes, missing, freeBytes } = options;

  async function hold(name: string, timeoutMs: number): Promise<() => void> {
    const release = await locks.request(`rockpool:${name}:${kind}-writer`, 'exclusive', timeoutMs);
    if (release === undefined) throw new StorageError('storage-busy', { name, holder: 'a writer', timeoutMs });
    return release;
  }

  async function held<T>(name: string, timeoutMs: number, work: () => Promise<T>): Promise<T> {
    const release = await hold(name, timeoutMs);
    try {
      return await work();
    } catch (cause) {
      throw cause instanceof DOMException ? errorFromMedium(cause, 'files') : cause;
    } finally {
      release();
    }
  }

  return {
    kind,
    persistence,
    allowsReaders: false,
    missing,
    freeBytes,
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
    remove: (name) => held(name, 0, () => place.remove(name)),
    rename: (name, newName) =>
      held(name, DEFAULT_TIMEOUT_MS, async () => {
        await storeWhole(place, newName, await loadWhole(place, name));
        await place.remove(name);
      }),
    async openExport(name) {
      if (!(await place.exists(name))) throw new StorageError('storage-missing', { name });
      return held(name, 0, async () => {
        // All of it is in memory now, so a writer may come.
        const loaded = await loadWhole(place, name);
        const pages = pagesOf(loaded);
        return {
          sizeBytes: loaded.sizeBytes,
          read: (into, at) => {
            pages.read(into, 0, into.length, at);
          },
          close: async () => undefined,
        };
      });
    },
    replace: (name, content, { timeoutMs, check }) =>
      held(name, timeoutMs, async () => {
        const staged = new MemoryExtents(await gather(content, budgetBytes));
        const failure = new LastFailure();
        const newPages = new ExtentStore(staged, await staged.load(), NO_NEW_PAGES, budgetBytes, {
          onError: failure.note,
          onUndone: () => undefined,
        });
        await check(
          openedRole(newPages, staged, true, () => undefined),
          failure,
        );
        await storeWhole(place, name, await staged.load());
      }),
  };
}

function openedRole(
  store: ExtentStore,
  backend: ExtentBackend,
  isStrict: boolean,
  release: () => void,
): Awaited<ReturnType<StoreMedium['openWriter']>> {
  const { queue } = store;
  return {
    store,
    dirtySinceMs: () => queue.pendingSinceMs,
    flush() {
      if (isStrict && queue.pendingSinceMs === undefined) return;
      throw new StorageError('storage-unsupported', {
        operation: 'flush',
        missing: ['a synchronous flush: open as strict and await committed()'],
      });
    },
    committed: () => queue.committed(),
    openReader: () => openReader(store),
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

async function openReader(store: ExtentStore): Promise<OpenedRole> {
  return readerRole(store.openReader(), { openReader: () => openReader(store), close: () => Promise.resolve() });
}
