import type { Schema } from '@rockpool/shared';
import { importFile, storageSizes, type Medium, type SqliteModule as StorageModule } from '@rockpool/vfs-opfs';
import { Connection } from '../sqlite/connection.ts';
import type { SqliteRuntime } from '../sqlite/sqlite-runtime.ts';
import { storageFailure } from '../storage/storage-failure.ts';
import { adoptSnapshot } from './adopt-snapshot.ts';
import { downloadSnapshot, type DownloadOptions } from './download-snapshot.ts';

export interface FirstSyncOptions extends Omit<DownloadOptions, 'schemaHash'> {
  readonly name: string;
  readonly medium: Medium;
  readonly schema: Schema;
  readonly runtime: Promise<SqliteRuntime>;
  readonly randomBytes: (count: number) => Uint8Array;
}

/**
 * Fills a database that is not there yet from the server's snapshot, whole or not at all. False: there is a database already, or no snapshot to be had; then the
 * database is opened as it is, and the stream brings the rest. Nobody may have it open. Throws what stands in the way here, such as `storage-full`.
 */
export async function firstSync(options: FirstSyncOptions): Promise<boolean> {
  const { name, medium, schema, runtime, randomBytes } = options;
  if ((await storageSizes(name, medium)) !== undefined) return false;
  const downloaded = await downloadSnapshot({ ...options, schemaHash: schema.hash });
  if (downloaded === null) return false;
  const { module } = await runtime;
  try {
    await importFile({
      name,
      medium,
      source: downloaded.compressed.stream().pipeThrough(new DecompressionStream('gzip')),
      check: async (storage) => {
        storage.register(module as unknown as StorageModule);
        const connection = new Connection(await runtime, { path: storage.path, vfsName: storage.vfsName });
        try {
          adoptSnapshot(connection, schema, randomBytes);
        } finally {
          connection.close();
        }
      },
    });
  } catch (thrown) {
    throw storageFailure(thrown);
  }
  return true;
}
