import { StorageError } from './storage-error.ts';

export const SQLITE_HEADER_BYTES = 100;
const MAGIC = 'SQLite format 3\0';

/** Page size of the SQLite database that starts with these bytes; throws `storage-corrupt` when they start none. */
export function sqlitePageSize(header: Uint8Array): number {
  for (let index = 0; index < MAGIC.length; index += 1) {
    if (header[index] !== MAGIC.charCodeAt(index)) throw new StorageError('storage-corrupt', { what: 'not a SQLite database' });
  }
  // Big-endian; 1 stands for 65536, which does not fit.
  const stored = header[16]! * 256 + header[17]!;
  const pageSize = stored === 1 ? 65536 : stored;
  if (pageSize < 512 || pageSize > 65536 || (pageSize & (pageSize - 1)) !== 0) {
    throw new StorageError('storage-corrupt', { what: 'page size of the SQLite header' });
  }
  return pageSize;
}
