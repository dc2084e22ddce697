// IndexedDB without SQLite, used as in the articles on SQLite over IndexedDB: one object store per table, bulk puts,
// and getAll for scans. Chrome's default durability is relaxed.
import type { Document, Entry, KeyValue, Person } from '../dataset.ts';
import type { Operations, PersonRow } from '../operations.ts';
import type { OpenedDatabase, Settings } from './adapter.ts';

type StoreName = 'kv' | 'single' | 'document' | 'person' | 'entry';

interface EntryObject {
  readonly id: number;
  readonly day: string;
  readonly account: number;
  readonly category: number;
  readonly amount: number;
}

interface DocumentObject {
  readonly status: string;
  readonly amount: number;
}

export async function open(database: string, settings: Settings): Promise<OpenedDatabase> {
  const request = indexedDB.open(database, 1);
  request.addEventListener('upgradeneeded', () => {
    for (const store of ['kv', 'single', 'document'] satisfies StoreName[]) request.result.createObjectStore(store);
    for (const store of ['person', 'entry'] satisfies StoreName[])
      request.result.createObjectStore(store, { keyPath: 'id' });
  });
  const durability: IDBTransactionDurability = settings['durability'] === 'strict' ? 'strict' : 'default';
  return { operations: rawOperations(await result(request), durability) };
}

function rawOperations(database: IDBDatabase, durability: IDBTransactionDurability): Operations {
  const reading = (store: StoreName): IDBObjectStore => database.transaction(store, 'readonly').objectStore(store);

  /** Runs `body` in one transaction and waits for its end. */
  const writing = (store: StoreName, body: (store: IDBObjectStore) => void): Promise<void> => {
    const transaction = database.transaction(store, 'readwrite', { durability });
    const ended = new Promise<void>((resolve, reject) => {
      transaction.addEventListener('complete', () => resolve());
      transaction.addEventListener('abort', () => reject(transaction.error ?? new Error('aborted')));
    });
    body(transaction.objectStore(store));
    transaction.commit();
    return ended;
  };

  const putKeyValues = (store: StoreName, rows: readonly KeyValue[]): Promise<void> =>
    writing(store, (into) => {
      for (const [key, value] of rows) into.put(value, key);
    });

  return {
    createTables: () => undefined,
    insertKeyValue: (row) => putKeyValues('single', [row]),
    insertKeyValues: (rows) => putKeyValues('kv', rows),
    insertDocuments: (rows: readonly Document[]) =>
      writing('document', (into) => {
        for (const [id, json] of rows) into.put(JSON.parse(json), id);
      }),
    insertBinaryDocuments: () => undefined,
    insertPeople: (rows: readonly Person[]) =>
      writing('person', (into) => {
        for (const [id, name, city, note, points, balance] of rows) into.put({ id, name, city, note, points, balance });
      }),
    insertEntries: (rows: readonly Entry[]) =>
      writing('entry', (into) => {
        for (const [id, day, account, category, amount, memo] of rows)
          into.put({ id, day, account, category, amount, memo });
      }),
    indexNotes: () => undefined,

    countKeyValues: () => result(reading('kv').count()),
    async sumValues() {
      const values: number[] = await result(reading('kv').getAll());
      return values.reduce((sum, value) => sum + value, 0);
    },
    async readKeyValues() {
      const store = reading('kv');
      const [keys, values] = await Promise.all([result(store.getAllKeys()), result(store.getAll())]);
      return Math.min(keys.length, values.length);
    },
    readValue: (key) => result<number>(reading('kv').get(key)),
    incrementValues(keys) {
      // Two requests for one key would both read the old value.
      const additions = new Map<string, number>();
      for (const key of keys) additions.set(key, (additions.get(key) ?? 0) + 1);
      const transaction = database.transaction('kv', 'readwrite', { durability });
      const store = transaction.objectStore('kv');
      for (const [key, addition] of additions) {
        const read: IDBRequest<number> = store.get(key);
        read.addEventListener('success', () => store.put(read.result + addition, key));
      }
      return new Promise((resolve, reject) => {
        transaction.addEventListener('complete', () => resolve());
        transaction.addEventListener('abort', () => reject(transaction.error ?? new Error('aborted')));
      });
    },
    incrementValue(key) {
      return this.incrementValues([key]);
    },

    readPeople: (count): Promise<PersonRow[]> => result(reading('person').getAll(IDBKeyRange.upperBound(count, true))),
    async countNotesLike() {
      const people: PersonRow[] = await result(reading('person').getAll());
      return people.filter((person) => person.note.toLowerCase().includes('gift with refund')).length;
    },
    countNotesMatching: () => Promise.reject(new Error('IndexedDB has no full-text index')),
    async groupByMonth(from, to) {
      const entries: EntryObject[] = await result(reading('entry').getAll());
      const months = new Map<string, { entries: number; total: number }>();
      for (const { day, amount } of entries) {
        if (day < from || day > to) continue;
        const name = day.slice(0, 7);
        const month = months.get(name) ?? { entries: 0, total: 0 };
        month.entries += 1;
        month.total += amount;
        months.set(name, month);
      }
      return months.size;
    },
    countEntries: () => result(reading('entry').count()),
    async sumOfCategory(wanted) {
      const entries: EntryObject[] = await result(reading('entry').getAll());
      let total = 0;
      for (const { category, amount } of entries) if (category === wanted) total += amount;
      return total;
    },
    async largestEntries(count) {
      const entries: EntryObject[] = await result(reading('entry').getAll());
      return entries
        .sort((a, b) => b.amount - a.amount || a.id - b.id)
        .slice(0, count)
        .map(({ id }) => id);
    },
    async sumByCity() {
      const people: PersonRow[] = await result(reading('person').getAll());
      const cities = new Map(people.map(({ id, city }) => [id, city]));
      const entries: EntryObject[] = await result(reading('entry').getAll());
      const totals = new Map<string, number>();
      for (const { account, amount } of entries) {
        const city = cities.get(account);
        if (city !== undefined) totals.set(city, (totals.get(city) ?? 0) + amount);
      }
      return totals.size;
    },
    async countOpenDocuments() {
      const documents: DocumentObject[] = await result(reading('document').getAll());
      return documents.filter(({ status, amount }) => status === 'open' && amount > 500).length;
    },
    countOpenBinaryDocuments: () => Promise.reject(new Error('IndexedDB stores objects in one form')),
    close: () => database.close(),
  };
}

function result<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.addEventListener('success', () => resolve(request.result));
    request.addEventListener('error', () =>
      reject(request.error ?? new Error('the IndexedDB request failed without an error')),
    );
  });
}
