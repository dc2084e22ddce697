import { StorageError } from './storage-error.ts';

export const SQLITE_HEADER_BYTES = 100;
const MAGIC = 'SQLite format 3\0';

/** The facts about a SQLite file in its first 100 bytes. */
export interface SqliteFileHeader {
  readonly pageSizeBytes: number;
  /** `undefined` when the last program that wrote the file does not maintain the count; the file size then decides. */
  readonly pageCount: number | undefined;
}

/** Throws `storage-corrupt` when these bytes are not the start of a SQLite database. */
export function readSqliteHeader(header: Uint8Array): SqliteFileHeader {
  for (let index = 0; index < MAGIC.length; index += 1) {
    if (header[index] !== MAGIC.charCodeAt(index))
      throw new StorageError('storage-corrupt', { what: 'the file is not a SQLite database' });
  }
  const view = new DataView(header.buffer, header.byteOffset, header.byteLength);
  // 65536 does not fit in 16 bits; SQLite stores it as 1.
  const stored = view.getUint16(16);
  const pageSizeBytes = stored === 1 ? 65536 : stored;
  if (pageSizeBytes < 512 || (pageSizeBytes & (pageSizeBytes - 1)) !== 0) {
    throw new StorageError('storage-corrupt', { what: 'the SQLite header has an invalid page size' });
  }
  // The page count is valid only if the program that last changed the change counter also wrote the count.
  const pageCount = view.getUint32(24) === view.getUint32(92) ? view.getUint32(28) : 0;
  return { pageSizeBytes, pageCount: pageCount === 0 ? undefined : pageCount };
}

/**
 * Returns the header of a database of `sizeBytes`. Throws `storage-corrupt` also when the file is shorter than its
 * header states.
 */
export function checkSqliteHeader(header: Uint8Array, sizeBytes: number): SqliteFileHeader {
  const found = readSqliteHeader(header);
  const statedBytes = (found.pageCount ?? 1) * found.pageSizeBytes;
  if (sizeBytes < statedBytes)
    throw new StorageError('storage-corrupt', {
      what: 'the file is shorter than its header states',
      sizeBytes,
      statedBytes,
    });
  return found;
}

/**
 * Clears the WAL flag of the header. This storage never has a `-wal` file, and SQLite refuses to open a flagged file
 * without shared memory. A file that was closed or exported is complete without its WAL.
 */
export function clearWalMode(header: Uint8Array): void {
  if (header[18] === 2) header[18] = 1;
  if (header[19] === 2) header[19] = 1;
}
