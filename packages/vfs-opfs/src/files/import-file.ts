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
import { removeStaged, replaceWithStaged } from './replace-database.ts';
import { assertRoom } from './room.ts';
import { storageSizes } from './storage-files.ts';
import { writeStaged } from './write-staged.ts';

const DEFAULT_TIMEOUT_MS = 3000;

export interface ImportOptions {
  /** What is there under this name is replaced; the name may be new. */
  readonly name: string;
  readonly medium: Medium;
  /** A plain SQLite file. A stream is never held in memory whole, except on IndexedDB, where every database is. */
  readonly source: ImportSource;
  /**
   * Sees the imported database before it replaces anything, as a storage to open one connection on: run `PRAGMA
   * quick_check`, look at the schema, change what must be changed. Close the connection, not the storage. What it
   * throws stops the import.
   */
  readonly check?: (storage: Storage) => void | Promise<void>;
  /** How long to wait for the writer's lock and for readers. Default 3000. */
  readonly timeoutMs?: number;
}

/**
 * Replaces a database by a SQLite file, whole or not at all, whatever dies in between. Nobody may have the database
 * open.
 *
 * Throws `storage-full` (before anything is written when the browser says that there is no room), `storage-corrupt`
 * (the source is no SQLite file or is cut off; or the database to be replaced is damaged: quarantine it first),
 * `storage-busy` (somebody has it open), what the source's stream and `check` throw. After each of these the old
 * database is there as it was.
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
      // What the check changed is part of what is imported.
      await storage.checkpoint();
    } finally {
      await storage.close();
    }
  };
}

/**
 * On media with files the staged one is there beside the database, which grows to its size; IndexedDB puts the new one
 * beside the old.
 */
async function neededBytes(name: string, medium: Medium, sizeBytes: number): Promise<number> {
  if ('openWriter' in medium) return sizeBytes;
  const old = (await storageSizes(name, medium))?.databaseBytes ?? 0;
  return sizeBytes + Math.max(0, sizeBytes - old);
}

/**
 * Everything that can fail: the staged file is written, checked and flushed, and the old database's log is in its file.
 * Returns the new size.
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
