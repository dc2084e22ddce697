import { openStorage, stageFile, storageSizes } from '@rockpool/vfs-opfs';
import { applyDeliveries } from '../apply/apply-delivery.ts';
import { PendingIndex } from '../apply/pending-index.ts';
import { openDatabase } from '../database/open-database.ts';
import { Connection } from '../sqlite/connection.ts';
import { storageFailure } from '../storage/storage-failure.ts';
import { syncProgress } from '../sync/sync-progress.ts';
import { loadSnapshotCode } from './load-snapshot-code.ts';
import type { FirstSyncOptions } from './take-first-sync.ts';

/**
 * Creates a database from the server's snapshot. Returns false when the database exists already or the server offers no
 * snapshot. Files without a database do not count: an opening or import that failed, or whose worker died, leaves them.
 * The database must not be open. Throws the errors of downloadSnapshot, local ones such as `storage-full`, and, with
 * migrations, those of `openDatabase`. No rows are stored then, and they arrive as deliveries once the database is
 * open.
 */
export async function firstSync(options: FirstSyncOptions): Promise<boolean> {
  const sizes = await storageSizes(options.name, options.medium);
  // The file of an interrupted import may consist of zeros.
  if (sizes !== undefined && sizes.databaseBytes > 0 && sizes.stagedBytes === undefined) return false;
  const { takeFirstSync } = await loadSnapshotCode();
  return takeFirstSync(
    { ...options, hasFiles: sizes !== undefined },
    {
      applyDeliveries,
      Connection,
      openDatabase,
      openStorage,
      PendingIndex,
      stageFile,
      storageFailure,
      syncProgress,
    },
  );
}
