/**
 * Settings that this device keeps outside the budget databases: short texts by name, in IndexedDB.
 */
export type DeviceItems = Pick<Storage, 'getItem' | 'setItem'>;

const databaseName = 'rockpool-demo';
const storeName = 'items';

let inMemory: DeviceItems | null = null;

/** Keeps the items in memory for the life of this page, because the browser stores nothing for it. */
export function rememberNothing(): void {
  const items = new Map<string, string>();
  inMemory = { getItem: (name) => items.get(name) ?? null, setItem: (name, text) => void items.set(name, text) };
}

/**
 * Runs `work` on this device's items in one transaction, exclusive across tabs. Resolves when everything it set is on
 * disk.
 *
 * This is not localStorage, because Chromium writes localStorage to disk seconds later. A user who created a first
 * budget and lost the browser within those seconds would have kept every entry but not the key to the budget.
 */
export async function withDeviceItems<T>(work: (items: DeviceItems) => T): Promise<T> {
  if (inMemory !== null) return work(inMemory);
  const database = await openItems();
  try {
    return await new Promise<T>((resolve, reject) => {
      const transaction = database.transaction(storeName, 'readwrite', { durability: 'strict' });
      const store = transaction.objectStore(storeName);
      const names = store.getAllKeys();
      const texts = store.getAll();
      let result: { readonly value: T } | undefined;
      texts.onsuccess = () => {
        const items = new Map(names.result.map((name, index) => [name, texts.result[index] as string]));
        try {
          result = {
            value: work({
              getItem: (name) => items.get(name) ?? null,
              setItem(name, text) {
                items.set(name, text);
                store.put(text, name);
              },
            }),
          };
        } catch (thrown) {
          transaction.abort();
          reject(thrown instanceof Error ? thrown : new Error(String(thrown)));
        }
      };
      transaction.oncomplete = () => {
        if (result !== undefined) resolve(result.value);
      };
      transaction.onabort = () =>
        reject(transaction.error ?? new Error('the settings of this device could not be saved'));
    });
  } finally {
    database.close();
  }
}

function openItems(): Promise<IDBDatabase> {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open(databaseName);
    request.onupgradeneeded = () => void request.result.createObjectStore(storeName);
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error ?? new Error('the settings of this device cannot be opened'));
  });
}
