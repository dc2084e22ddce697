import { StorageError } from '../storage-error.ts';
import { SQLITE_BUSY, SQLITE_CORRUPT, SQLITE_FULL, SQLITE_IOERR } from './codes.ts';

/** Turns any thrown value into a `StorageError`. */
export function storageErrorOf(error: unknown): StorageError {
  if (error instanceof StorageError) return error;
  return new StorageError('storage-failed', {
    operation: 'vfs',
    reason: error instanceof Error ? error.name : 'unknown',
  });
}

/** Returns the primary result code that the VFS returns to SQLite for a failure: the nearest one. */
export function resultCodeOf(error: StorageError): number {
  switch (error.code) {
    case 'storage-full':
      return SQLITE_FULL;
    case 'storage-snapshot-lost':
    case 'storage-busy':
      return SQLITE_BUSY;
    case 'storage-corrupt':
      return SQLITE_CORRUPT;
    default:
      return SQLITE_IOERR;
  }
}
