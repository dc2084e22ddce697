import { StorageError } from '../storage-error.ts';
import { writerLockName } from './storage-locks.ts';
import type { StorageLocks } from './storage-locks.ts';

/**
 * Takes the writer's lock of a database and returns what gives it back; throws `storage-busy` when it is not granted in
 * time.
 */
export async function holdWriterLock(locks: StorageLocks, storageName: string, timeoutMs: number): Promise<() => void> {
  const release = await locks.request(writerLockName(storageName), 'exclusive', timeoutMs);
  if (release === undefined)
    throw new StorageError('storage-busy', { name: storageName, holder: 'a writer', timeoutMs });
  return release;
}
