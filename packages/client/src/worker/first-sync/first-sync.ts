import type { Schema } from '@rockpool/shared';
import { storageSizes, type Medium, type SqliteModule as StorageModule } from '@rockpool/vfs-opfs';
import { Connection } from '../sqlite/connection.ts';
import type { SqliteRuntime } from '../sqlite/sqlite-runtime.ts';
import { storageFailure } from '../storage/storage-failure.ts';
import { STORE_TIMEOUT_MS } from '../sync/snapshot-wait.ts';
import type { DownloadOptions } from './download-snapshot.ts';
import { loadSnapshotCode } from './load-snapshot-code.ts';
import { reportStored } from './stored-progress.ts';

export interface FirstSyncOptions extends Omit<DownloadOptions, 'schemaHash' | 'timeouts'> {
  /** The limit for the token, for the first byte of a response, and for a file that is being built. */
  readonly answerWithinMs: number;
  /** Default: that of snapshot-wait.ts. */
  readonly nextBytesMs?: number;
  readonly name: string;
  readonly medium: Medium;
  readonly schema: Schema;
  readonly runtime: Promise<SqliteRuntime>;
  readonly randomBytes: (count: number) => Uint8Array;
}

/**
 * Creates a database from the server's snapshot, completely or not at all. Returns false when the database exists
 * already or the server offers no snapshot. The database must not be open. Throws the errors of downloadSnapshot, and
 * local ones such as `storage-full`. Nothing is stored then, and the rows arrive as deliveries once the database is
 * open.
 */
export async function firstSync(options: FirstSyncOptions): Promise<boolean> {
  const { name, medium, schema, runtime, randomBytes, answerWithinMs, nextBytesMs } = options;
  if ((await storageSizes(name, medium)) !== undefined) return false;
  const timeouts = {
    tokenMs: answerWithinMs,
    firstByteMs: answerWithinMs,
    builtMs: answerWithinMs,
    ...(nextBytesMs !== undefined && { nextBytesMs }),
  };
  const { adoptSnapshot, downloadSnapshot, importFile } = await loadSnapshotCode();
  const downloaded = await downloadSnapshot({ ...options, schemaHash: schema.hash, timeouts });
  if (downloaded === null) return false;
  const { module } = await runtime;
  const onStored = (): void => options.onWait({ stage: 'snapshot-store', withinMs: STORE_TIMEOUT_MS });
  onStored();
  try {
    await importFile({
      name,
      medium,
      source: downloaded.compressed
        .stream()
        .pipeThrough(new DecompressionStream('gzip'))
        .pipeThrough(reportStored(onStored)),
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
