import { RockpoolError } from '@rockpool/shared';
import {
  deleteStorage,
  exportFile,
  isStorageName,
  listNamesInUse,
  listStorages,
  quarantineStorage,
  storageSizes,
  type Medium,
  type SqliteModule as StorageModule,
} from '@rockpool/vfs-opfs';
import './access-handle-types.ts';
import { loadPart } from '../../load-part.ts';
import { newId } from '../../new-id.ts';
import { isBranchFile, isBranchOf, MERGE_REQUEST_PREFIX } from '../../rpc/branch-file.ts';
import type { DatabaseInfo, DatabasesApi } from '../../rpc/worker-api.ts';
import { STORAGE_FORMAT } from '../file/internal-tables.ts';
import { Meta } from '../file/meta.ts';
import { Connection } from '../sqlite/connection.ts';
import { blobOf } from './backups.ts';
import type { ChosenMedium, StorageEnvironment } from './choose-medium.ts';
import { failureBehind, storageFailure } from './storage-failure.ts';

/** The operations on databases that are closed. */
export function databasesIn({ places, chooseMedium, loadSqlite }: StorageEnvironment): DatabasesApi {
  /** The medium that has the database. Throws `storage-missing`. */
  async function mediumOf(name: string): Promise<Medium> {
    for (const { medium } of await places()) if ((await listStorages(medium)).includes(name)) return medium;
    throw new RockpoolError('storage-missing', { name });
  }

  return {
    listDatabases: () => withStorageFailures(async () => (await Promise.all((await places()).map(listPlace))).flat()),
    deleteDatabase: (name) =>
      withStorageFailures(async () => {
        if (!isStorageName(name)) return; // No database has such a name.
        for (const { medium } of await places()) {
          await deleteStorage(name, medium, async () => {
            const names = await listNamesInUse(medium);
            await deleteAll(
              names.filter((stored) => isBranchOf(stored, name)),
              medium,
            );
          });
        }
      }),
    quarantineDatabase: (name) => withStorageFailures(async () => quarantineStorage(name, await mediumOf(name))),
    backupDatabase: (name) => withStorageFailures(async () => blobOf(await exportFile(name, await mediumOf(name)))),
    restoreDatabase: (name, file, persistence) =>
      withStorageFailures(async () => {
        const { medium } = await chooseMedium(persistence, name);
        const runtime = await loadSqlite();
        const { importFile, prepareRestored } = await loadPart('restore', () => import('./restore-code.ts'));
        await importFile({
          name,
          medium,
          source: file,
          check(storage) {
            storage.register(runtime.module as unknown as StorageModule);
            const connection = new Connection(runtime, {
              path: storage.path,
              vfsName: storage.vfsName,
              storageError: failureBehind(storage),
            });
            try {
              prepareRestored(
                { connection, meta: new Meta(connection), supported: STORAGE_FORMAT },
                isBranchFile(name) ? `${MERGE_REQUEST_PREFIX}${newId()}` : null,
              );
            } finally {
              connection.close();
            }
          },
        });
      }),
  };
}

/**
 * Deletes none if one is open. A database calls this for its branches before it is deleted: without it, the next one of
 * the same name would find them.
 */
async function deleteAll([name, ...others]: readonly string[], medium: Medium): Promise<void> {
  if (name !== undefined) await deleteStorage(name, medium, () => deleteAll(others, medium));
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

async function withStorageFailures<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (thrown) {
    throw storageFailure(thrown);
  }
}
