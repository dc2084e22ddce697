import type { Medium } from '../media/medium.ts';
import { StorageError } from '../storage-error.ts';
import { storageSizes } from './storage-files.ts';

/**
 * Throws `storage-full` when the browser says that there is no room for so many more bytes: better before the work than
 * in its middle. Browsers give an estimate, and some give none; so passing is no promise, and every write is still
 * checked.
 */
export async function assertRoom(medium: Medium, neededBytes: number, operation: string): Promise<void> {
  const freeBytes = await medium.freeBytes();
  if (freeBytes !== undefined && freeBytes < neededBytes)
    throw new StorageError('storage-full', { operation, neededBytes, freeBytes });
}

/**
 * To be asked before a VACUUM, which writes the whole database once more: throws `storage-full` when there is no room
 * for that. Without asking, a VACUUM that finds no room fails with SQLITE_FULL and changes nothing, but only after the
 * work.
 */
export async function assertRoomForVacuum(name: string, medium: Medium): Promise<void> {
  const sizes = await storageSizes(name, medium);
  if (sizes === undefined) throw new StorageError('storage-missing', { name });
  await assertRoom(medium, sizes.databaseBytes, 'VACUUM');
}
