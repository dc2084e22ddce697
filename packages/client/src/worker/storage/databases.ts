import { RockpoolError } from '@rockpool/shared';
import {
  deleteStorage,
  exportFile,
  importFile,
  listStorages,
  quarantineStorage,
  storageSizes,
  type SqliteModule as StorageModule,
  type Storage,
} from '@rockpool/vfs-opfs';
import './access-handle-types.ts';
import type { DatabaseInfo, DatabasesApi } from '../../rpc/worker-api.ts';
import { STORAGE_FORMAT } from '../file/internal-tables.ts';
import { Meta } from '../file/meta.ts';
import { Connection } from '../sqlite/connection.ts';
import type { SqliteRuntime } from '../sqlite/sqlite-runtime.ts';
import { blobOf } from './backups.ts';
import type { ChosenMedium, StorageEnvironment } from './choose-medium.ts';
import { storageFailure } from './storage-failure.ts';

/** The operations on databases that are closed. */
export function databasesIn({ places, chooseMedium, loadSqlite }: StorageEnvironment): DatabasesApi {
  return {
    listDatabases: () => withStorageFailures(async () => (await Promise.all((await places()).map(listPlace))).flat()),
    deleteDatabase: (name) =>
      withStorageFailures(async () => {
        for (const { medium } of await places())
          if ((await listStorages(medium)).includes(name)) await deleteStorage(name, medium);
      }),
    quarantineDatabase: (name) =>
      withStorageFailures(async () => {
        for (const { medium } of await places())
          if ((await listStorages(medium)).includes(name)) return quarantineStorage(name, medium);
        throw new RockpoolError('storage-missing', { name });
      }),
    backupDatabase: (name) =>
      withStorageFailures(async () => {
        for (const { medium } of await places())
          if ((await listStorages(medium)).includes(name)) return blobOf(await exportFile(name, medium));
        throw new RockpoolError('storage-missing', { name });
      }),
    restoreDatabase: (name, file, persistence) =>
      withStorageFailures(async () => {
        const { medium } = await chooseMedium(persistence, name);
        const runtime = await loadSqlite();
        await importFile({ name, medium, source: file, check: (storage) => prepareRestored(storage, runtime) });
      }),
  };
}

async function listPlace({ persistence, medium }: ChosenMedium): Promise<DatabaseInfo[]> {
  const names = await listStorages(medium);
  return Promise.all(
    names.map(async (name) => {
      const sizes = await storageSizes(name, medium);
      return { name, persistence, sizeBytes: (sizes?.databaseBytes ?? 0) + (sizes?.logBytes ?? 0) };
    }),
  );
}

/** Checks that the file is an intact Rockpool database and marks it as a copy, before it replaces anything. */
function prepareRestored(storage: Storage, runtime: SqliteRuntime): void {
  storage.register(runtime.module as unknown as StorageModule);
  const connection = new Connection(runtime, {
    path: storage.path,
    vfsName: storage.vfsName,
    storageError: () => (storage.lastError === undefined ? null : storageFailure(storage.lastError)),
  });
  try {
    if (connection.value('PRAGMA quick_check(1)') !== 'ok')
      throw new RockpoolError('storage-corrupt', { problem: 'quick_check' });
    const meta = new Meta(connection);
    if (!meta.exists)
      throw new RockpoolError('schema-incompatible', { problem: 'the file is not a Rockpool database' });
    const format = meta.get('storage_format');
    if (typeof format !== 'number' || format > STORAGE_FORMAT)
      throw new RockpoolError('schema-incompatible', {
        problem: 'unsupported storage format',
        found: String(format),
        supported: STORAGE_FORMAT,
      });
    meta.set('is_restored', 1);
  } finally {
    connection.close();
  }
}

async function withStorageFailures<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (thrown) {
    throw storageFailure(thrown);
  }
}
