import { snapshotLockName } from '../locks/storage-locks.ts';
import { generationFromHeader } from '../log/generation.ts';
import { LogWriter } from '../log/log-writer.ts';
import { pendingImport, readLog } from '../log/recovery.ts';
import type { FileMedium } from '../media/medium.ts';
import { GuardedFile } from '../media/guarded-file.ts';
import { openFiles } from '../open-files.ts';
import type { OpenFiles } from '../open-files.ts';
import { StorageError } from '../storage-error.ts';
import { stagedName, storageFileNames } from '../storage-name.ts';

/** How much is written with one call. */
const CHUNK_BYTES = 1024 * 1024;

/**
 * Puts the staged import, which is flushed, in the place of a database, for a holder of the writer's lock. The
 * database's log must have been moved into its file.
 *
 * The order of calls is what makes a kill between any two of them harmless: room for the new file is made; then one
 * sector, the header `importing`, decides, and is flushed; then the staged file is copied over the database file; that
 * is flushed; `done`. Until the decision the old database is there as it was, and after it whoever opens copies again.
 * After it nothing needs room any more.
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
    throw new StorageError('storage-failed', { operation: 'import', reason: 'no log' });
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
    // A reader that comes now must not take the old generation for what the database file holds.
    writer.setState(log.active, 'done');
    await finishImport(name, medium, files);
  } finally {
    release?.();
    files.close();
  }
}

/** Goes on with an import that was decided; does nothing when there is none. */
export async function finishImport(name: string, medium: FileMedium, files: OpenFiles): Promise<void> {
  const header = pendingImport(files.segments);
  if (header === undefined) return;
  const staged = await medium.open(storageFileNames(stagedName(name))[0], false);
  if (staged === undefined) throw new StorageError('storage-corrupt', { what: 'the file of a decided import is gone' });
  const source = new GuardedFile(staged);
  try {
    copy(source, files.database);
  } finally {
    source.close();
  }
  const writer = new LogWriter(files.segments, header.pageSizeBytes, 0);
  writer.setState(generationFromHeader(header), 'done');
  writer.flush();
  await removeStaged(name, medium);
}

export async function removeStaged(name: string, medium: FileMedium): Promise<void> {
  for (const fileName of storageFileNames(stagedName(name))) await medium.remove(fileName);
}

/** Zeros beyond the database's end, which its log says: they are not part of it. */
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

function copy(from: GuardedFile, to: GuardedFile): void {
  const sizeBytes = from.sizeBytes();
  const buffer = new Uint8Array(CHUNK_BYTES);
  for (let at = 0; at < sizeBytes; at += CHUNK_BYTES) {
    const chunk = buffer.subarray(0, Math.min(CHUNK_BYTES, sizeBytes - at));
    from.readOrZeros(chunk, at);
    to.write(chunk, at);
  }
  to.truncate(sizeBytes);
  to.flush();
}
