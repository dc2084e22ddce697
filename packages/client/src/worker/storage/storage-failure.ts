import { isErrorCode, RockpoolError, toRockpoolError } from '@rockpool/shared';
import { resultCodeOf, StorageError, type Storage } from '@rockpool/vfs-opfs';

/** Translates a failure of the storage package into the client's codes. */
export function storageFailure(thrown: unknown): RockpoolError {
  if (!(thrown instanceof StorageError)) return toRockpoolError(thrown);
  const { code } = thrown;
  const fields = Object.fromEntries(
    Object.entries(thrown.fields).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : value]),
  ) as Record<string, string | number | boolean>;
  if (code === 'storage-newer') return new RockpoolError('database-newer', fields, { cause: thrown });
  if (isErrorCode(code)) return new RockpoolError(code, fields, { cause: thrown });
  // Any other code is either retryable or a bug of this package.
  if (code === 'storage-snapshot-lost')
    return new RockpoolError('storage-lost', { reason: 'snapshot', ...fields }, { cause: thrown });
  return new RockpoolError('internal', { storage: code, ...fields }, { cause: thrown });
}

export type LostCode = 'storage-lost' | 'storage-failed';

/**
 * Returns the last failure of a storage if SQLite's primary result code is what the VFS returned for it. Otherwise it
 * is an older failure, and SQLite has found a different one by itself. `onLost` is called if opening the files again
 * may help and takes nothing from the app: the browser has taken them away (`storage-lost`), or a read fails for an
 * unknown reason (`storage-failed`). While only writes fail, the open files can be read, but opening them again writes.
 */
export function failureBehind(
  storage: Pick<Storage, 'lastError'>,
  onLost?: (code: LostCode) => void,
): (primaryCode: number) => RockpoolError | null {
  return (primaryCode) => {
    const { lastError } = storage;
    if (lastError === undefined || resultCodeOf(lastError) !== primaryCode) return null;
    const { code, fields } = lastError;
    if (code === 'storage-lost' || (code === 'storage-failed' && fields['operation'] === 'read')) onLost?.(code);
    return storageFailure(lastError);
  };
}
