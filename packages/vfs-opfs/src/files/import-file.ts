import { holdWriterLock } from '../locks/storage-locks.ts';
import type { FileMedium, Medium } from '../media/medium.ts';
import { LastFailure } from '../last-failure.ts';
import { createStorage } from '../opened-storage.ts';
import type { OpenedStore } from '../opened-store.ts';
import { openAsLockHolder, openWriter } from '../open-writer.ts';
import type { OpenWriterOptions } from '../open-writer.ts';
import { StorageError, errorFromMedium } from '../storage-error.ts';
import { checkStorageName, stagedName, storageFileNames } from '../storage-name.ts';
import type { Storage } from '../storage.ts';
import { DEFAULT_TUNING } from '../tuning.ts';
import { checkedChunks } from './checked-chunks.ts';
import type { ImportSource } from './checked-chunks.ts';
import { finishInterruptedImport, removeStaged } from './finish-import.ts';
import { replaceWithStaged } from './replace-database.ts';
import { assertRoom } from './room.ts';
import { storageSizes } from './storage-files.ts';
import { writeStaged } from './write-staged.ts';

const DEFAULT_TIMEOUT_MS = 3000;

export interface ImportOptions {
  /** The database to replace, or a new name. */
  readonly name: string;
  readonly medium: Medium;
  /**
   * A plain SQLite file. A stream is never held in memory whole, except on IndexedDB, which holds every database in
   * memory.
   */
  readonly source: ImportSource;
  /**
   * Receives the imported database before it replaces anything, as a storage for one connection: run `PRAGMA
   * quick_check`, inspect the schema, or migrate. Close the connection, but not the storage. Throwing cancels the
   * import.
   */
  readonly check?: (storage: Storage) => void | Promise<void>;
  /** How long to wait for the writer's lock and for readers. Default 3000. */
  readonly timeoutMs?: number;
}

/**
 * Replaces a database with a SQLite file, completely or not at all, even if the process dies. No connection may have
 * the database open.
 *
 * Throws `storage-full` (before writing anything, if the browser's estimate is too low), `storage-corrupt` (the source
 * is not a SQLite file or is truncated; or the database to replace is damaged: quarantine it first), `storage-busy`
 * (the database is open), and any error of the source stream or of `check`. After each of these the old database is
 * unchanged.
 */
export async function importFile(options: ImportOptions): Promise<void> {
  const { name, medium, source } = options;
  checkStorageName(name);
  const missing = await medium.missing();
  if (missing.length > 0) throw new StorageError('storage-unsupported', { medium: medium.kind, missing });
  if (source instanceof Blob) await assertRoom(medium, await neededBytes(name, medium, source.size), 'import');
  const timeoutMs = options.timeoutMs ?? DEFAULT_TIMEOUT_MS;
  const check = checkAndClose(options);
  if ('openWriter' in medium) {
    await medium.replace(name, checkedChunks(source), { timeoutMs, check });
    return;
  }
  const release = await holdWriterLock(medium.locks, name, timeoutMs);
  try {
    // It needs the staged file, which this import replaces.
    await finishInterruptedImport(name, medium);
    const sizeBytes = await prepare(name, medium, source, timeoutMs, check);
    await replaceWithStaged(name, medium, sizeBytes, timeoutMs);
  } catch (error) {
    throw error instanceof DOMException ? errorFromMedium(error, 'import') : error;
  } finally {
    release();
  }
}

type CheckStaged = (opened: OpenedStore, failure: LastFailure) => Promise<void>;

function checkAndClose({ name, medium, check }: ImportOptions): CheckStaged {
  return async (opened, failure) => {
    const storage = createStorage(opened, { name, role: 'writer', persistence: medium.persistence }, failure);
    try {
      await check?.(storage);
      // The changes of `check` are part of the import.
      await storage.checkpoint();
    } finally {
      await storage.close();
    }
  };
}

/**
 * Media with files hold both the staged file and the database, which grows to the same size. IndexedDB stores the new
 * content beside the old one.
 */
async function neededBytes(name: string, medium: Medium, sizeBytes: number): Promise<number> {
  if ('openWriter' in medium) return sizeBytes;
  const old = (await storageSizes(name, medium))?.databaseBytes ?? 0;
  return sizeBytes + Math.max(0, sizeBytes - old);
}

/**
 * Does everything that can fail: writes, checks and flushes the staged file, and moves the old database's log into its
 * file. Returns the new size in bytes.
 */
async function prepare(
  name: string,
  medium: FileMedium,
  source: ImportSource,
  timeoutMs: number,
  check: CheckStaged,
): Promise<number> {
  try {
    await removeStaged(name, medium);
    await writeStaged(name, medium, source);
    const failure = new LastFailure();
    const options: OpenWriterOptions = {
      name,
      medium,
      timeoutMs,
      pageSizeBytes: 4096,
      tuning: DEFAULT_TUNING,
      isStrict: true,
      onError: failure.note,
    };
    await check(await openWriter({ ...options, name: stagedName(name) }), failure);
    await moveLogIntoFile(options);
    return (await medium.sizeBytes(storageFileNames(stagedName(name))[0])) ?? 0;
  } catch (error) {
    await removeStaged(name, medium).catch(() => undefined);
    throw error;
  }
}

async function moveLogIntoFile(options: OpenWriterOptions): Promise<void> {
  const { name, timeoutMs } = options;
  const old = await openAsLockHolder(options, () => undefined);
  try {
    if (!(await old.checkpoint(timeoutMs)))
      throw new StorageError('storage-busy', { name, holder: 'a reader', timeoutMs });
  } finally {
    await old.close();
  }
}
