import { holdWriterLock } from '../locks/storage-locks.ts';
import type { Medium } from '../media/medium.ts';
import { StorageError } from '../storage-error.ts';
import { checkStorageName, storageFileNames } from '../storage-name.ts';
import { listStorages, storageSizes } from './storage-files.ts';

const TIMEOUT_MS = 3000;
const MAX_NAME = 100;

/**
 * Sets a damaged database aside, log and all, under a name of its own, which it returns: `budget.corrupt-1`. Nothing of
 * it is changed or deleted. The old name is free then: open it to start anew, or import a backup. Under the new one
 * `exportFile` gives the bytes as they are, and if its header is sound it can be opened, to read what can be read.
 *
 * Throws `storage-missing`, and `storage-busy` while somebody has it open.
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
    // The database goes first: a log that a kill leaves behind without it is noticed as damage at the next opening, not
    // taken for less data.
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
