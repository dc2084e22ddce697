import type { ByteSource } from '../files/byte-source.ts';
import type { StorageLocks } from '../locks/storage-locks.ts';
import type { Persistence, ReplaceOptions, StoreMedium } from '../media/medium.ts';
import { LastFailure } from '../last-failure.ts';
import { openedReader, type OpenedStore } from '../opened-store.ts';
import { StorageError, errorFromMedium } from '../storage-error.ts';
import type { ExtentBackend, ExtentCatalog, LoadedExtents } from './extent-backend.ts';
import { ExtentStore } from './extent-store.ts';
import { MemoryExtents } from './memory-extents.ts';
import { extentsFrom, loadWhole, pagesOf, storeWhole } from './whole-content.ts';

export interface ExtentMediumOptions {
  readonly kind: string;
  readonly persistence: Persistence;
  readonly catalog: ExtentCatalog;
  readonly locks: StorageLocks;
  readonly budgetBytes: number;
  missing(): Promise<readonly string[]>;
  freeBytes(): Promise<number | undefined>;
}

const DEFAULT_TIMEOUT_MS = 3000;
/** The staged content is a complete database, so this default for new databases is never used. */
const UNUSED_PAGE_SIZE_BYTES = 4096;

/** A medium for one opener at a time that holds databases in memory and stores commits asynchronously. */
export function extentMedium(options: ExtentMediumOptions): StoreMedium {
  const { kind, persistence, catalog, budgetBytes, missing, freeBytes } = options;

  const withWriterLock = async <T>(name: string, timeoutMs: number, work: () => Promise<T>): Promise<T> => {
    const release = await holdWriterLock(options, name, timeoutMs);
    try {
      return await work();
    } catch (cause) {
      throw cause instanceof DOMException ? errorFromMedium(cause, 'files') : cause;
    } finally {
      release();
    }
  };

  return {
    kind,
    persistence,
    allowsReaders: false,
    missing,
    freeBytes,
    async openWriter({ name, timeoutMs, isStrict, pageSizeBytes, onError, onUndone }) {
      const release = await holdWriterLock(options, name, timeoutMs);
      let backend: ExtentBackend | undefined;
      try {
        backend = await catalog.open(name, isStrict);
        const store = new ExtentStore(backend, await backend.load(), pageSizeBytes, budgetBytes, { onError, onUndone });
        return openedStore(store, backend, isStrict, release);
      } catch (cause) {
        backend?.close();
        release();
        throw errorFromMedium(cause, 'open');
      }
    },
    list: () => catalog.list(),
    async sizes(name) {
      return (await catalog.exists(name)) ? { databaseBytes: await catalog.sizeBytes(name), logBytes: 0 } : undefined;
    },
    remove: (name, before) =>
      withWriterLock(name, 0, async () => {
        await before?.();
        await catalog.remove(name);
      }),
    rename: (name, newName) =>
      withWriterLock(name, DEFAULT_TIMEOUT_MS, async () => {
        await storeWhole(catalog, newName, await loadWhole(catalog, name));
        await catalog.remove(name);
      }),
    async openExport(name) {
      if (!(await catalog.exists(name))) throw new StorageError('storage-missing', { name });
      return withWriterLock(name, 0, async () => {
        // The whole database is loaded here, so a writer may open it while the export is read.
        return memorySource(await loadWhole(catalog, name));
      });
    },
    replace: (name, content, { timeoutMs, check }) =>
      withWriterLock(name, timeoutMs, async () => {
        const staged = await stagedExtents(content, budgetBytes, check);
        await storeWhole(catalog, name, await staged.load());
      }),
  };
}

async function holdWriterLock(
  { kind, locks }: ExtentMediumOptions,
  name: string,
  timeoutMs: number,
): Promise<() => void> {
  const release = await locks.request(`rockpool:${name}:${kind}-writer`, 'exclusive', timeoutMs);
  if (release === undefined) throw new StorageError('storage-busy', { name, holder: 'a writer', timeoutMs });
  return release;
}

function memorySource(loaded: LoadedExtents): ByteSource {
  const pages = pagesOf(loaded);
  return {
    sizeBytes: loaded.sizeBytes,
    read: (into, at) => {
      pages.read(into, 0, into.length, at);
    },
    close: async () => undefined,
  };
}

/** Reads `content` into memory, where `check` may open and change it. */
async function stagedExtents(
  content: AsyncIterable<Uint8Array>,
  budgetBytes: number,
  check: ReplaceOptions['check'],
): Promise<MemoryExtents> {
  const staged = new MemoryExtents(await extentsFrom(content, budgetBytes));
  const failure = new LastFailure();
  const store = new ExtentStore(staged, await staged.load(), UNUSED_PAGE_SIZE_BYTES, budgetBytes, {
    onError: failure.note,
    onUndone: () => undefined,
  });
  const opened = openedStore(store, staged, true, () => undefined);
  await check(opened, failure);
  return staged;
}

function openedStore(
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
        missing: ['a synchronous flush is not supported: open with strict durability and await committed()'],
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
        await queue.ended();
      } finally {
        backend.close();
        release();
      }
    },
  };
}

async function openReader(store: ExtentStore): Promise<OpenedStore> {
  return openedReader(store.openReader(), { openReader: () => openReader(store), close: () => Promise.resolve() });
}
