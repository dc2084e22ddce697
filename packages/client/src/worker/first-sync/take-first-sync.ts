import type { Schema } from '@rockpool/shared';
import { importFile, type Medium, type SqliteModule as StorageModule } from '@rockpool/vfs-opfs';
import type { Migration } from '../../rpc/migration.ts';
import type { SqliteRuntime } from '../sqlite/sqlite-runtime.ts';
import type { storageFailure } from '../storage/storage-failure.ts';
import { STORE_TIMEOUT_MS } from '../sync/snapshot-wait.ts';
import { adoptSnapshot } from './adopt-snapshot.ts';
import { downloadSnapshot, type DownloadOptions } from './download-snapshot.ts';
import { fillMigrated, tryMigrations, type FillTools } from './fill-migrated.ts';
import type { SnapshotContent } from './snapshot-source.ts';
import { reportStored } from './stored-progress.ts';

export interface FirstSyncOptions extends Omit<DownloadOptions, 'schemaHash' | 'timeouts'> {
  /** The limit for the token, for the first byte of a response, and for a file that is being built. */
  readonly answerWithinMs: number;
  /** Default: that of snapshot-wait.ts. */
  readonly nextBytesMs?: number;
  readonly name: string;
  readonly medium: Medium;
  readonly schema: Schema;
  /** The app's migrations, or null. */
  readonly migrations: readonly Migration[] | null;
  readonly runtime: Promise<SqliteRuntime>;
  readonly randomBytes: (count: number) => Uint8Array;
}

/**
 * The parts of the worker that this code uses. It loads on first use; imports would move these modules to its chunk.
 */
export interface FirstSyncTools extends FillTools {
  readonly storageFailure: typeof storageFailure;
}

/**
 * Downloads the snapshot and makes it the database. With migrations, whose result a snapshot does not have, copies its
 * rows into a database in which they have run. See firstSync.
 */
export async function takeFirstSync(
  options: FirstSyncOptions & { readonly hasFiles: boolean },
  tools: FirstSyncTools,
): Promise<boolean> {
  const { schema, migrations, answerWithinMs, nextBytesMs, onWait } = options;
  if (options.hasFiles) {
    if (!(await isEmpty(options, tools))) return false;
    // If they failed before, each opening would download the snapshot again in vain.
    if (migrations !== null) tryMigrations({ ...options, runtime: await options.runtime, migrations }, tools);
  }
  const timeouts = {
    tokenMs: answerWithinMs,
    firstByteMs: answerWithinMs,
    builtMs: answerWithinMs,
    ...(nextBytesMs !== undefined && { nextBytesMs }),
  };
  const downloaded = await downloadSnapshot({ ...options, schemaHash: schema.hash, timeouts });
  if (downloaded === null) return false;
  const runtime = await options.runtime;
  const onStored = (): void => onWait({ stage: 'snapshot-store', withinMs: STORE_TIMEOUT_MS });
  onStored();
  const content = {
    source: downloaded.compressed
      .stream()
      .pipeThrough(new DecompressionStream('gzip'))
      .pipeThrough(reportStored(onStored)),
    sizeBytes: downloaded.sizeBytes,
  };
  try {
    if (migrations === null) await importSnapshot(options, content, runtime, tools);
    else await fillMigrated({ ...options, runtime, migrations }, content, onStored, tools);
  } catch (thrown) {
    throw tools.storageFailure(thrown);
  }
  return true;
}

/**
 * Whether the files hold no database: the worker that created them died before its first commit, or its migrations
 * failed. Their size does not show it, because a database can still be in its log. False if they cannot be read:
 * opening the database then reports why.
 */
async function isEmpty(
  { name, medium, runtime }: FirstSyncOptions,
  { openStorage, Connection }: FirstSyncTools,
): Promise<boolean> {
  try {
    const loaded = await runtime;
    const storage = await openStorage({ name, medium, role: 'writer' });
    try {
      storage.register(loaded.module as unknown as StorageModule);
      const connection = new Connection(loaded, { path: storage.path, vfsName: storage.vfsName });
      try {
        return connection.value('SELECT count(*) FROM sqlite_schema') === 0;
      } finally {
        connection.close();
      }
    } finally {
      await storage.close();
    }
  } catch {
    return false;
  }
}

/** Completely or not at all. */
async function importSnapshot(
  { name, medium, schema, randomBytes }: FirstSyncOptions,
  { source }: SnapshotContent,
  runtime: SqliteRuntime,
  { Connection }: FirstSyncTools,
): Promise<void> {
  await importFile({
    name,
    medium,
    source,
    check: (storage) => {
      storage.register(runtime.module as unknown as StorageModule);
      const connection = new Connection(runtime, { path: storage.path, vfsName: storage.vfsName });
      try {
        adoptSnapshot(connection, schema, randomBytes);
      } finally {
        connection.close();
      }
    },
  });
}
