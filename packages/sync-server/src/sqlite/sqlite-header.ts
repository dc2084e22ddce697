import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

const MAGIC = 'SQLite format 3\0';
const HEADER_BYTES = 100;

export interface SqliteFileHeader {
  readonly pageSizeBytes: number;
  /** Whole pages in the file, excluding those that exist only in its log. */
  readonly pageCount: number;
}

/**
 * Reads the header of a SQLite file without opening it with SQLite. Returns null if it is not a SQLite file. See
 * https://sqlite.org/fileformat2.html#the_database_header.
 */
export function readSqliteHeader(path: string): SqliteFileHeader | null {
  const descriptor = openSync(path, 'r');
  try {
    const header = Buffer.alloc(HEADER_BYTES);
    if (
      readSync(descriptor, header, 0, HEADER_BYTES, 0) < HEADER_BYTES ||
      header.toString('latin1', 0, MAGIC.length) !== MAGIC
    )
      return null;
    const stored = header.readUInt16BE(16);
    // 65,536 does not fit into 16 bits.
    const pageSizeBytes = stored === 1 ? 65_536 : stored;
    return { pageSizeBytes, pageCount: Math.floor(fstatSync(descriptor).size / pageSizeBytes) };
  } finally {
    closeSync(descriptor);
  }
}
