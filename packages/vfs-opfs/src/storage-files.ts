import { writerLockName } from './locks/storage-locks.ts';
import type { FileMedium, Medium, StorageSizes } from './media/medium.ts';
import { openReader } from './open-reader.ts';
import { StorageError } from './storage-error.ts';
import { checkStorageName, storageFileNames, storageNameOf } from './storage-name.ts';
import { DEFAULT_TUNING } from './tuning.ts';

/** Names of the databases on a medium. */
export async function listStorages(medium: Medium): Promise<readonly string[]> {
  const fileNames = await medium.list();
  if ('openWriter' in medium) return fileNames.toSorted();
  return fileNames.map(storageNameOf).filter((name) => name !== undefined).sort();
}

/** `undefined` when there is no such database. */
export async function storageSizes(name: string, medium: Medium): Promise<StorageSizes | undefined> {
  checkStorageName(name);
  if ('openWriter' in medium) return medium.sizes(name);
  const [database, first, second] = await Promise.all(storageFileNames(name).map((fileName) => medium.sizeBytes(fileName)));
  if (database === undefined) return undefined;
  return { databaseBytes: database, logBytes: (first ?? 0) + (second ?? 0) };
}

/** Deletes a database and its log. Throws `storage-busy` while a writer has it open; readers must be closed first. */
export async function deleteStorage(name: string, medium: Medium): Promise<void> {
  checkStorageName(name);
  if ('openWriter' in medium) return medium.remove(name);
  const release = await medium.locks.request(writerLockName(name), 'exclusive', 0);
  if (release === undefined) throw new StorageError('storage-busy', { name, holder: 'a writer' });
  try {
    // The log goes first: a database without its log is old but whole, a log without its database is neither.
    const [database, first, second] = storageFileNames(name);
    for (const fileName of [second, first, database]) await medium.remove(fileName);
  } finally {
    release();
  }
}

/**
 * The latest commit as the bytes of one plain SQLite file. Works beside a writer; on a medium for one opener at a time it fails with
 * `storage-busy` then.
 */
export async function exportFile(name: string, medium: Medium): Promise<Uint8Array> {
  checkStorageName(name);
  if ('openWriter' in medium) return medium.exportFile(name);
  if (medium.allowsReaders) return readFile(name, medium);
  const release = await medium.locks.request(writerLockName(name), 'exclusive', 0);
  if (release === undefined) throw new StorageError('storage-busy', { name, holder: 'a writer' });
  try {
    return await readFile(name, medium);
  } finally {
    release();
  }
}

async function readFile(name: string, medium: FileMedium): Promise<Uint8Array> {
  const reader = await openReader({ name, medium, timeoutMs: 0, tuning: { ...DEFAULT_TUNING, poolSizeBytes: 0 }, onError: () => undefined });
  try {
    reader.store.beginRead();
    const bytes = new Uint8Array(reader.store.sizeBytes());
    reader.store.read(bytes, 0, bytes.length, 0);
    return bytes;
  } finally {
    await reader.close();
  }
}
