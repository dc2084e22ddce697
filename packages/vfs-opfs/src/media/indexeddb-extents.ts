import type { ExtentBackend, ExtentBatch, ExtentCatalog, LoadedExtents } from '../extents/extent-backend.ts';
import { decodePatches, encodePatches } from '../extents/patch.ts';
import { EXTENT_BYTES } from '../pages/extent-pool.ts';
import { StorageError } from '../storage-error.ts';

// Each database is one IndexedDB database with three object stores:
// - `extents`: number of the extent → Uint8Array of at most `extentBytes`
// - `meta`: key 'database' → { sizeBytes, extentBytes }, absent until the first commit; without `extentBytes` it is 64
//   KB
// - `patches`: ascending number → Uint8Array, the patches of one batch
const PREFIX = 'rockpool:';
const FORMAT = 2; // Version 2 added patches.
const EXTENTS = 'extents';
const PATCHES = 'patches';
const META = 'meta';
const META_KEY = 'database';
/** The size of one request: a browser may refuse to send a result of hundreds of megabytes in one message. */
const EXTENTS_PER_READ = 128;

interface Meta {
  readonly sizeBytes: number;
  readonly extentBytes?: number;
}

/** `extentBytes` applies to new databases. */
export function indexedDbCatalog(extentBytes: number): ExtentCatalog {
  return {
    async open(name, isStrict) {
      return backendOf(await openDatabase(name), isStrict ? 'strict' : 'relaxed', extentBytes);
    },
    async exists(name) {
      return (await names()).includes(name);
    },
    async sizeBytes(name) {
      const database = await openDatabase(name);
      try {
        return (await readMeta(database))?.sizeBytes ?? 0;
      } finally {
        database.close();
      }
    },
    async remove(name) {
      await withTimeout(indexedDB.deleteDatabase(PREFIX + name));
    },
    async list() {
      return names();
    },
  };
}

async function names(): Promise<string[]> {
  const databases = await indexedDB.databases();
  return databases
    .map(({ name }) => name ?? '')
    .filter((name) => name.startsWith(PREFIX))
    .map((name) => name.slice(PREFIX.length));
}

function openDatabase(name: string): Promise<IDBDatabase> {
  const request = indexedDB.open(PREFIX + name, FORMAT);
  request.onupgradeneeded = ({ oldVersion }) => {
    if (oldVersion < 1) {
      request.result.createObjectStore(EXTENTS);
      request.result.createObjectStore(META);
    }
    request.result.createObjectStore(PATCHES, { autoIncrement: true });
  };
  return withTimeout(request);
}

/**
 * This worker has the writer's lock, so only a worker that has not ended yet can keep the database open or keep the
 * browser from responding.
 */
const ANSWER_WITHIN_MS = 10_000;

/** Throws `storage-busy` if there is no response in time, and then closes a database that opens later. */
function withTimeout(request: IDBOpenDBRequest): Promise<IDBDatabase> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      reject(new StorageError('storage-busy', { reason: 'the browser did not answer', timeoutMs: ANSWER_WITHIN_MS }));
      // The result of a deletion is undefined.
      request.onsuccess = () => (request.result as IDBDatabase | undefined)?.close();
    }, ANSWER_WITHIN_MS);
    requestResult(request)
      .then(resolve, reject)
      .finally(() => clearTimeout(timer));
  });
}

function requestResult<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error ?? new DOMException('', 'UnknownError'));
  });
}

function readMeta(database: IDBDatabase): Promise<Meta | undefined> {
  return requestResult<Meta | undefined>(database.transaction(META).objectStore(META).get(META_KEY));
}

function backendOf(database: IDBDatabase, durability: IDBTransactionDurability, newExtentBytes: number): ExtentBackend {
  let stored: Meta | undefined;
  return {
    load: () => load(database, newExtentBytes),
    async write(batch) {
      const { sizeBytes, extentBytes } = batch;
      const isMetaStored = stored?.sizeBytes === sizeBytes && stored.extentBytes === extentBytes;
      await write(database, durability, batch, isMetaStored);
      stored = { sizeBytes, extentBytes };
    },
    close: () => database.close(),
  };
}

/**
 * Loads everything in one IndexedDB transaction. Each request is made in the callback of the one before, so that the
 * transaction stays open.
 */
function load(database: IDBDatabase, newExtentBytes: number): Promise<LoadedExtents> {
  return new Promise((resolve, reject) => {
    const transaction = database.transaction([EXTENTS, PATCHES, META], 'readonly');
    const extents = new Map<number, Uint8Array>();
    let sizeBytes = 0;
    let extentBytes = newExtentBytes;
    const meta: IDBRequest<Meta | undefined> = transaction.objectStore(META).get(META_KEY);
    meta.onsuccess = () => {
      if (meta.result === undefined) return;
      sizeBytes = meta.result.sizeBytes;
      extentBytes = meta.result.extentBytes ?? EXTENT_BYTES;
    };
    const readFrom = (first: number): void => {
      const range = IDBKeyRange.bound(first, first + EXTENTS_PER_READ, false, true);
      const store = transaction.objectStore(EXTENTS);
      const keys = store.getAllKeys(range);
      const values: IDBRequest<Uint8Array[]> = store.getAll(range);
      values.onsuccess = () => {
        values.result.forEach((bytes, index) => extents.set(Number(keys.result[index]), bytes));
        if ((first + EXTENTS_PER_READ) * extentBytes < sizeBytes) readFrom(first + EXTENTS_PER_READ);
      };
    };
    readFrom(0);
    const patches: IDBRequest<Uint8Array[]> = transaction.objectStore(PATCHES).getAll();
    transaction.oncomplete = () => {
      try {
        resolve({ sizeBytes, extentBytes, extents, patches: patches.result.flatMap(decodePatches) });
      } catch (cause) {
        reject(cause);
      }
    };
    transaction.onabort = () => reject(transaction.error ?? new DOMException('', 'AbortError'));
  });
}

/**
 * Writes a batch in one IndexedDB transaction, which takes effect completely or not at all. A small commit is one
 * request.
 */
function write(
  database: IDBDatabase,
  durability: IDBTransactionDurability,
  batch: ExtentBatch,
  isMetaStored: boolean,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const isOnlyPatches = isMetaStored && batch.extents.size === 0 && batch.cutFrom === Infinity;
    const transaction = database.transaction(isOnlyPatches ? PATCHES : [EXTENTS, PATCHES, META], 'readwrite', {
      durability,
    });
    transaction.oncomplete = () => resolve();
    transaction.onabort = () => reject(transaction.error ?? new DOMException('', 'AbortError'));
    try {
      const patches = transaction.objectStore(PATCHES);
      if (batch.dropsPatches) patches.clear();
      if (batch.cutFrom !== Infinity) transaction.objectStore(EXTENTS).delete(IDBKeyRange.lowerBound(batch.cutFrom));
      // Storing a view would store its whole buffer.
      for (const [extent, bytes] of batch.extents)
        transaction.objectStore(EXTENTS).put(bytes.length === bytes.buffer.byteLength ? bytes : bytes.slice(), extent);
      if (batch.patches.length > 0) patches.add(encodePatches(batch.patches));
      if (!isMetaStored)
        transaction
          .objectStore(META)
          .put({ sizeBytes: batch.sizeBytes, extentBytes: batch.extentBytes } satisfies Meta, META_KEY);
      transaction.commit();
    } catch (cause) {
      // Without the abort, IndexedDB would commit the requests made so far.
      transaction.abort();
      reject(cause);
    }
  });
}
