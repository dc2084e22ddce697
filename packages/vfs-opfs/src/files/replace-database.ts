import { snapshotLockName } from '../locks/storage-locks.ts';
import { LogWriter } from '../log/log-writer.ts';
import { pendingImport, readLog } from '../log/recovery.ts';
import type { FileMedium } from '../media/medium.ts';
import type { GuardedFile } from '../media/guarded-file.ts';
import { openFiles } from '../open-files.ts';
import type { OpenFiles } from '../open-files.ts';
import { StorageError } from '../storage-error.ts';
import { finishImport, removeStaged } from './finish-import.ts';

/** Size of one write. */
const CHUNK_BYTES = 1024 * 1024;

/**
 * Replaces a database with the staged import, which must be flushed. The caller holds the writer's lock and has moved
 * the database's log into its file.
 *
 * A kill between any two calls is harmless because of their order: reserve space for the new file; write and flush one
 * sector, the header `importing`, which decides the import; copy the staged file over the database file; flush it;
 * write `done`. Before the decision the old database is unchanged; after it, every writer that opens repeats the copy.
 * After the decision, no step needs more space. A failure before it removes the staged file.
 */
export async function replaceWithStaged(
  name: string,
  medium: FileMedium,
  sizeBytes: number,
  timeoutMs: number,
): Promise<void> {
  let files: OpenFiles | undefined;
  let release: (() => void) | undefined;
  let isDecided = false;
  try {
    files = await openFiles(medium, name, false);
    const log = files === undefined ? undefined : readLog(files.segments);
    if (files === undefined || log?.active === undefined)
      throw new StorageError('storage-failed', { operation: 'import', reason: 'the database has no log' });
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
    isDecided = true;
    // A reader that opens now must not mistake the old generation for the content of the database file.
    writer.setState(log.active, 'done');
    await finishImport(name, medium, files);
  } catch (error) {
    if (!isDecided && !mayBeDecided(files)) await removeStaged(name, medium).catch(() => undefined);
    throw error;
  } finally {
    release?.();
    files?.close();
  }
}

/** Whether the header `importing` may reach the disk: a write or a flush that failed may have stored it. */
function mayBeDecided(files: OpenFiles | undefined): boolean {
  try {
    return files !== undefined && pendingImport(files.segments) !== undefined;
  } catch {
    return true;
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
