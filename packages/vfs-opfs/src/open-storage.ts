import { openReader } from './open-reader.ts';
import { openWriter } from './open-writer.ts';
import type { OpenedStore } from './opened-store.ts';
import { LastFailure } from './last-failure.ts';
import { createStorage } from './opened-storage.ts';
import { StorageError } from './storage-error.ts';
import { checkStorageName } from './storage-name.ts';
import type { OpenStorageOptions, Storage } from './storage.ts';
import { DEFAULT_TUNING } from './tuning.ts';

const DEFAULT_TIMEOUT_MS = 3000;
const DEFAULT_PAGE_SIZE_BYTES = 8192;

/**
 * Opens a database for one SQLite connection, as its only writer or as a reader.
 *
 * Throws a `StorageError` with one of these codes:
 * - `storage-unsupported`: the medium lacks something that `fields.missing` lists, or allows one opener and `role` is
 *   `reader`
 * - `storage-ephemeral`: a private window that keeps nothing
 * - `storage-busy`: another writer is open, or another worker still holds a file handle
 * - `storage-missing`: a reader found no database within `timeoutMs`
 * - `storage-corrupt`: the file is not a SQLite database or is truncated; it is left unchanged, see `quarantineStorage`
 * - `storage-full`: the quota, the disk or the memory budget is full
 */
export async function openStorage(options: OpenStorageOptions): Promise<Storage> {
  const { name, medium, role } = options;
  checkStorageName(name);
  const pageSizeBytes = options.pageSizeBytes ?? DEFAULT_PAGE_SIZE_BYTES;
  if (pageSizeBytes < 512 || pageSizeBytes > 8192 || (pageSizeBytes & (pageSizeBytes - 1)) !== 0) {
    throw new RangeError('pageSizeBytes must be a power of two from 512 to 8192');
  }
  const missing = await medium.missing();
  if (missing.length > 0) throw new StorageError('storage-unsupported', { medium: medium.kind, missing });
  if (role === 'reader' && !medium.allowsReaders) throw readersUnsupported(medium.kind);
  const tuning = { ...DEFAULT_TUNING, ...options.tuning };
  const timeoutMs = options.timeoutMs ?? DEFAULT_TIMEOUT_MS;
  const failure = new LastFailure();
  const onError = failure.note;
  const isStrict = options.durability === 'strict';
  const onUndone = options.onUndone ?? ((): void => undefined);
  return createStorage(await openStore(), { name, role, persistence: medium.persistence }, failure);

  function openStore(): Promise<OpenedStore> {
    if ('openWriter' in medium)
      return medium.openWriter({ name, pageSizeBytes, timeoutMs, isStrict, onError, onUndone });
    return role === 'writer'
      ? openWriter({ name, medium, pageSizeBytes, timeoutMs, tuning, isStrict, onError })
      : openReader({ name, medium, timeoutMs, tuning, onError });
  }
}

function readersUnsupported(kind: string): StorageError {
  return new StorageError('storage-unsupported', {
    medium: kind,
    missing: ['this storage allows no readers beside the writer: followers read through the leader'],
  });
}
