import { holdWriterLock } from '../locks/storage-locks.ts';
import type { Medium, StorageSizes } from '../media/medium.ts';
import { checkStorageName, ownerOf, stagedName, storageFileNames, storageNameOf } from '../storage-name.ts';

/** Names of the databases on a medium, including quarantined ones. */
export async function listStorages(medium: Medium): Promise<readonly string[]> {
  const fileNames = await medium.list();
  if ('openWriter' in medium) return fileNames.toSorted();
  return fileNames
    .map(storageNameOf)
    .filter((name) => name !== undefined)
    .sort();
}

/**
 * Names with any file on a medium: those of `listStorages`, and those of which only an interrupted import or a log is
 * left, which `deleteStorage` removes too.
 */
export async function listNamesInUse(medium: Medium): Promise<readonly string[]> {
  const fileNames = await medium.list();
  return 'openWriter' in medium ? fileNames : [...new Set(fileNames.map(ownerOf))];
}

/** Returns `undefined` when the database does not exist. */
export async function storageSizes(name: string, medium: Medium): Promise<StorageSizes | undefined> {
  checkStorageName(name);
  if ('openWriter' in medium) return medium.sizes(name);
  const [database, first, second, stagedBytes] = await Promise.all(
    [...storageFileNames(name), storageFileNames(stagedName(name))[0]].map((fileName) => medium.sizeBytes(fileName)),
  );
  if (database === undefined) return undefined;
  return { databaseBytes: database, logBytes: (first ?? 0) + (second ?? 0), ...(stagedBytes && { stagedBytes }) };
}

/**
 * Deletes a database and its log. Throws `storage-busy` while a writer has it open. Readers must be closed first.
 *
 * `before` runs first, while no writer can open the database. If it throws, the database stays.
 */
export async function deleteStorage(name: string, medium: Medium, before?: () => Promise<void>): Promise<void> {
  checkStorageName(name);
  if ('openWriter' in medium) return medium.remove(name, before);
  const release = await holdWriterLock(medium.locks, name, 0);
  try {
    await before?.();
    // The log is deleted first, because a database without its log is old but complete, while a log without its
    // database is useless.
    const [database, first, second] = storageFileNames(name);
    for (const fileName of [...storageFileNames(stagedName(name)), second, first, database])
      await medium.remove(fileName);
  } finally {
    release();
  }
}
