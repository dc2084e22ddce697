import { holdWriterLock } from '../locks/storage-locks.ts';
import type { Medium } from '../media/medium.ts';
import { StorageError } from '../storage-error.ts';
import { checkStorageName, storageFileNames } from '../storage-name.ts';
import { finishInterruptedImport } from './finish-import.ts';
import { listStorages, storageSizes } from './storage-files.ts';

const TIMEOUT_MS = 3000;
const MAX_NAME = 100;

/**
 * Renames a damaged database and its log, for example to `budget.corrupt-1`, and returns the new name. Nothing is
 * changed or deleted, except that an interrupted import is finished if that is possible. The old name is then free for
 * a new database or an import of a backup. Under the new name `exportFile` streams the bytes as they are, and a
 * database with a valid header can be opened to read undamaged pages.
 *
 * Throws `storage-missing`, and `storage-busy` while the database is open.
 */
export async function quarantineStorage(name: string, medium: Medium): Promise<string> {
  checkStorageName(name);
  if ((await storageSizes(name, medium)) === undefined) throw new StorageError('storage-missing', { name });
  const newName = await freeName(name, medium);
  if ('openWriter' in medium) {
    await medium.rename(name, newName);
    return newName;
  }
  const release = await holdWriterLock(medium.locks, name, TIMEOUT_MS);
  try {
    // The staged file of an interrupted import is not renamed.
    await finishInterruptedImport(name, medium).catch(() => undefined);
    // The database is renamed first. After a kill in between, the next opening reports the log without a database as
    // damage instead of mistaking it for an empty database.
    const newFileNames = storageFileNames(newName);
    for (const [index, fileName] of storageFileNames(name).entries())
      await medium.rename(fileName, newFileNames[index]!);
  } finally {
    release();
  }
  return newName;
}

async function freeName(name: string, medium: Medium): Promise<string> {
  const names = await listStorages(medium);
  for (let number = 1; ; number += 1) {
    const suffix = `.corrupt-${number}`;
    const candidate = name.slice(0, MAX_NAME - suffix.length) + suffix;
    if (!names.includes(candidate)) return candidate;
  }
}
