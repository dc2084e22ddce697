import type { Schema } from '@rockpool/shared';
import { openStorage, stageFile, storageSizes, type Medium } from '@rockpool/vfs-opfs';
import type { Migration } from '../../rpc/migration.ts';
import { applyDeliveries } from '../apply/apply-delivery.ts';
import { PendingIndex } from '../apply/pending-index.ts';
import { openDatabase } from '../database/open-database.ts';
import { Connection } from '../sqlite/connection.ts';
import type { SqliteRuntime } from '../sqlite/sqlite-runtime.ts';
import { storageFailure } from '../storage/storage-failure.ts';
import { syncProgress } from '../sync/sync-progress.ts';
import type { DownloadOptions } from './download-snapshot.ts';
import { loadSnapshotCode } from './load-snapshot-code.ts';

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

/** What the code that loads on demand uses of the worker. An import would move these modules to another chunk. */
const TOOLS = {
  applyDeliveries,
  Connection,
  openDatabase,
  openStorage,
  PendingIndex,
  stageFile,
  storageFailure,
  syncProgress,
};

export type FirstSyncTools = typeof TOOLS;

/**
 * Creates a database from the server's snapshot. Returns false when the database exists already or the server offers no
 * snapshot. The database must not be open. Throws the errors of downloadSnapshot, local ones such as `storage-full`,
 * and, with migrations, those of `openDatabase`. No rows are stored then, and they arrive as deliveries once the
 * database is open.
 */
export async function firstSync(options: FirstSyncOptions): Promise<boolean> {
  if ((await storageSizes(options.name, options.medium)) !== undefined) return false;
  return (await loadSnapshotCode()).takeFirstSync(options, TOOLS);
}
