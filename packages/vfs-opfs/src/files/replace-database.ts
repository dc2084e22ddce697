import { snapshotLockName } from '../locks/storage-locks.ts';
import { LogWriter } from '../log/log-writer.ts';
import { readLog } from '../log/recovery.ts';
import type { FileMedium } from '../media/medium.ts';
import type { GuardedFile } from '../media/guarded-file.ts';
import { openFiles } from '../open-files.ts';
import { StorageError } from '../storage-error.ts';
import { finishImport } from './finish-import.ts';

/** Size of one write. */
const CHUNK_BYTES = 1024 * 1024;

/**
 * Replaces a database with the staged import, which must be flushed. The caller holds the writer's lock and has moved
 * the database's log into its file.
 *
 * A kill between any two calls is harmless because of their order: reserve space for the new file; write and flush one
 * sector, the header `importing`, which decides the import; copy the staged file over the database file; flush it;
 * write `done`. Before the decision the old database is unchanged; after it, every writer that opens repeats the copy.
 * After the decision, no step needs more space.
 */
export async function replaceWithStaged(
  name: string,
  medium: FileMedium,
  sizeBytes: number,
  timeoutMs: number,
): Promise<void> {
  const files = await openFiles(medium, name, false);
  const log = files === undefined ? undefined : readLog(files.segments);
  if (files === undefined || log?.active === undefined)
    throw new StorageError('storage-failed', { operation: 'import', reason: 'the database has no log' });
  let release: (() => void) | undefined;
  try {
    release = await medium.locks.request(snapshotLockName(name, log.active.number), 'exclusive', timeoutMs);
    if (release === undefined) throw new StorageError('storage-busy', { name, holder: 'a reader', timeoutMs });
    makeRoom(files.database, sizeBytes);
    const writer = new LogWriter(files.segments, log.pageSizeBytes, 0);
    writer.begin(
      {
        generation: log.newest + 1,
        salt: crypto.getRandomValues(new Int32Array(1))[0]!,
        baseTransactionId: log.lastTransactionId,
        baseChecksum: 0,
        baseSizeBytes: 0,
        isFirst: true,
      },
      'importing',
    );
    writer.flush();
    // A reader that opens now must not mistake the old generation for the content of the database file.
    writer.setState(log.active, 'done');
    await finishImport(name, medium, files);
  } finally {
    release?.();
    files.close();
  }
}

/** Writes zeros beyond the end of the database. The log holds the database's size, so they are not part of it. */
function makeRoom(database: GuardedFile, sizeBytes: number): void {
  const before = database.sizeBytes();
  const zeros = new Uint8Array(CHUNK_BYTES);
  try {
    for (let at = before; at < sizeBytes; at += CHUNK_BYTES)
      database.write(zeros.subarray(0, Math.min(CHUNK_BYTES, sizeBytes - at)), at);
  } catch (error) {
    database.truncate(before);
    throw error;
  }
}
