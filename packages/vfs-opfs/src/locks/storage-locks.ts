import { StorageError } from '../storage-error.ts';

export type LockMode = 'shared' | 'exclusive';

/** Named locks between workers and tabs, granted in the order of the requests and freed when their holder dies. */
export interface StorageLocks {
  /**
   * Resolves with a function that releases the lock, or with `undefined` when it was not granted within `timeoutMs` (0:
   * only if it is free now).
   */
  request(name: string, mode: LockMode, timeoutMs: number): Promise<(() => void) | undefined>;
}

/** Lock of the writer: held exclusively while the database is open. */
export function writerLockName(storageName: string): string {
  return `rockpool:${storageName}:writer`;
}

/**
 * Takes the writer's lock and returns the function that releases it. Throws `storage-busy` when it is not granted in
 * time.
 */
export async function holdWriterLock(locks: StorageLocks, storageName: string, timeoutMs: number): Promise<() => void> {
  const release = await locks.request(writerLockName(storageName), 'exclusive', timeoutMs);
  if (release === undefined)
    throw new StorageError('storage-busy', { name: storageName, holder: 'a writer', timeoutMs });
  return release;
}

/**
 * Lock of a generation of the log: shared by every reader whose snapshot ends in it, and taken exclusively by the
 * writer before it moves that generation into the database file. Readers and writer exchange it only when the log's
 * segments swap.
 */
export function snapshotLockName(storageName: string, generation: number): string {
  return `rockpool:${storageName}:snapshot:${generation}`;
}
