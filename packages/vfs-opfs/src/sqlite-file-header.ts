import { StorageError } from './storage-error.ts';

export const SQLITE_HEADER_BYTES = 100;
const MAGIC = 'SQLite format 3\0';

/** What the first 100 bytes of a SQLite file say about the rest. */
export interface SqliteFileHeader {
  readonly pageSizeBytes: number;
  /** `undefined` when a program wrote last that does not keep it, and then the file's size tells. */
  readonly pageCount: number | undefined;
}

/** Throws `storage-corrupt` when these bytes do not start a SQLite database. */
export function readSqliteHeader(header: Uint8Array): SqliteFileHeader {
  for (let index = 0; index < MAGIC.length; index += 1) {
    if (header[index] !== MAGIC.charCodeAt(index))
      throw new StorageError('storage-corrupt', { what: 'not a SQLite database' });
  }
  const view = new DataView(header.buffer, header.byteOffset, header.byteLength);
  // 1 stands for 65536, which does not fit.
  const stored = view.getUint16(16);
  const pageSizeBytes = stored === 1 ? 65536 : stored;
  if (pageSizeBytes < 512 || (pageSizeBytes & (pageSizeBytes - 1)) !== 0) {
    throw new StorageError('storage-corrupt', { what: 'page size of the SQLite header' });
  }
  // The page count holds when it was written by whoever last changed the change counter.
  const pageCount = view.getUint32(24) === view.getUint32(92) ? view.getUint32(28) : 0;
  return { pageSizeBytes, pageCount: pageCount === 0 ? undefined : pageCount };
}

/**
 * The header of a database of `sizeBytes`; throws `storage-corrupt` also when the file is shorter than its header says.
 */
export function checkSqliteHeader(header: Uint8Array, sizeBytes: number): SqliteFileHeader {
  const found = readSqliteHeader(header);
  const statedBytes = (found.pageCount ?? 1) * found.pageSizeBytes;
  if (sizeBytes < statedBytes)
    throw new StorageError('storage-corrupt', { what: 'shorter than its header says', sizeBytes, statedBytes });
  return found;
}

/**
 * Turns "this file is used with a WAL file beside it" off. Here there never is one, and SQLite refuses to open such a
 * file without shared memory. A file that was closed or exported is whole without it.
 */
export function clearWalMode(header: Uint8Array): void {
  if (header[18] === 2) header[18] = 1;
  if (header[19] === 2) header[19] = 1;
}
