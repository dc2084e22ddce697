import { RockpoolError } from '@rockpool/shared';
import { deleteStorage, exportFile, importFile, indexedDbMedium, listStorages, opfsExclusiveMedium, opfsSharedMedium, quarantineStorage, storageSizes, type Medium, type SqliteModule as StorageModule, type Storage } from '@rockpool/vfs-opfs';
import './access-handle-types.ts';
import type { Persistence } from '../../rpc/persistence.ts';
import type { DatabaseInfo, DatabasesApi } from '../../rpc/worker-api.ts';
import { STORAGE_FORMAT } from '../database/internal-tables.ts';
import { Meta } from '../database/meta.ts';
import { Connection } from '../sqlite/connection.ts';
import { loadSqlite } from '../sqlite/load-sqlite.ts';
import type { SqliteRuntime } from '../sqlite/sqlite-runtime.ts';
import { chooseMedium } from './choose-medium.ts';
import { storageFailure } from './storage-failure.ts';

interface Place {
  readonly persistence: Persistence;
  readonly medium: Medium;
}

/** What can be done with databases that are closed. */
export const databases: DatabasesApi = {
  listDatabases: () => failingAsStorage(async () => (await Promise.all((await places()).map(listPlace))).flat()),
  deleteDatabase: (name) =>
    failingAsStorage(async () => {
      for (const { medium } of await places()) if ((await listStorages(medium)).includes(name)) await deleteStorage(name, medium);
    }),
  setDatabaseAside: (name) =>
    failingAsStorage(async () => {
      for (const { medium } of await places()) if ((await listStorages(medium)).includes(name)) return quarantineStorage(name, medium);
      throw new RockpoolError('storage-missing', { name });
    }),
  backupDatabase: (name) =>
    failingAsStorage(async () => {
      for (const { medium } of await places()) if ((await listStorages(medium)).includes(name)) return new Response(await exportFile(name, medium)).blob();
      throw new RockpoolError('storage-missing', { name });
    }),
  restoreDatabase: (name, file, persistence) =>
    failingAsStorage(async () => {
      const { medium } = await chooseMedium(persistence, name);
      const runtime = await loadSqlite();
      await importFile({ name, medium, source: file, check: (storage) => prepareRestored(storage, runtime) });
    }),
};

/** The media of this browser that keep something. Both ways over the origin-private file system have the same files. */
async function places(): Promise<readonly Place[]> {
  const candidates: readonly Place[] = [
    { persistence: 'opfs', medium: opfsSharedMedium() },
    { persistence: 'opfs-exclusive', medium: opfsExclusiveMedium() },
    { persistence: 'indexeddb', medium: indexedDbMedium() },
  ];
  const usable = await Promise.all(candidates.map(async ({ medium }) => (await medium.missing()).length === 0));
  const [shared, exclusive, indexedDb] = candidates.map((place, index) => (usable[index] === true ? [place] : []));
  return [...(shared?.length === 0 ? (exclusive ?? []) : (shared ?? [])), ...(indexedDb ?? [])];
}

async function listPlace({ persistence, medium }: Place): Promise<DatabaseInfo[]> {
  const names = await listStorages(medium);
  return Promise.all(
    names.map(async (name) => {
      const sizes = await storageSizes(name, medium);
      return { name, persistence, sizeBytes: (sizes?.databaseBytes ?? 0) + (sizes?.logBytes ?? 0) };
    }),
  );
}

/** Looks whether it is one of ours and sound, and marks it as a copy, before it takes the place of anything. */
function prepareRestored(storage: Storage, runtime: SqliteRuntime): void {
  storage.register(runtime.module as unknown as StorageModule);
  const connection = new Connection(runtime, { path: storage.path, vfsName: storage.vfsName, storageError: () => (storage.lastError === undefined ? null : storageFailure(storage.lastError)) });
  try {
    if (connection.value('PRAGMA quick_check(1)') !== 'ok') throw new RockpoolError('storage-corrupt', { problem: 'quick_check' });
    if (connection.value("SELECT count(*) FROM sqlite_schema WHERE name = 'rockpool_meta'") === 0) {
      throw new RockpoolError('schema-incompatible', { problem: 'the file is not a Rockpool database' });
    }
    const meta = new Meta(connection);
    const format = meta.get('storage_format');
    if (typeof format !== 'number' || format > STORAGE_FORMAT) throw new RockpoolError('schema-incompatible', { problem: 'another storage format', found: String(format), supported: STORAGE_FORMAT });
    meta.set('is_restored', 1);
  } finally {
    connection.close();
  }
}

async function failingAsStorage<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (thrown) {
    throw storageFailure(thrown);
  }
}
