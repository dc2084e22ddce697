import type { Medium } from '../media/medium.ts';
import { StorageError } from '../storage-error.ts';
import { storageSizes } from './storage-files.ts';

/**
 * Throws `storage-full` when the browser's estimate leaves less room than needed, before the work instead of in the
 * middle of it. An estimate is not a promise, and some browsers give none, so every write is checked as well.
 */
export async function assertRoom(medium: Medium, neededBytes: number, operation: string): Promise<void> {
  const freeBytes = await medium.freeBytes();
  if (freeBytes !== undefined && freeBytes < neededBytes)
    throw new StorageError('storage-full', { operation, neededBytes, freeBytes });
}

/**
 * Checks that a VACUUM has space for its second copy of the whole database; throws `storage-full` otherwise. Without
 * this check such a VACUUM fails with SQLITE_FULL and changes nothing, but only after the work.
 */
export async function assertRoomForVacuum(name: string, medium: Medium): Promise<void> {
  const sizes = await storageSizes(name, medium);
  if (sizes === undefined) throw new StorageError('storage-missing', { name });
  await assertRoom(medium, sizes.databaseBytes, 'VACUUM');
}
