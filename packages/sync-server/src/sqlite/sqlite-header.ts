import { statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';

/** SQLite's result code for a file that is not a database. */
export const SQLITE_NOTADB = 26;

export interface SqliteFileHeader {
  readonly pageSizeBytes: number;
  /** Whole pages in the file, excluding those that exist only in its log. */
  readonly pageCount: number;
}

/**
 * Reads the header of a file, without its log and without locks. Returns null if it is not a SQLite file. SQLite reads
 * it: closing a descriptor of our own would drop the locks of a server that has the file open in any thread
 * (beside-sqlite.ts).
 */
export function readSqliteHeader(path: string): SqliteFileHeader | null {
  const { size } = statSync(path);
  if (size === 0) return null;
  const address = pathToFileURL(path);
  address.searchParams.set('immutable', '1');
  const database = new DatabaseSync(address, { readOnly: true });
  try {
    if (!isSqlite(database)) return null;
    const pageSizeBytes = Number(database.prepare('PRAGMA page_size').get()?.['page_size']);
    return { pageSizeBytes, pageCount: Math.floor(size / pageSizeBytes) };
  } finally {
    database.close();
  }
}

function isSqlite(database: DatabaseSync): boolean {
  try {
    database.prepare('PRAGMA schema_version').get();
    return true;
  } catch (error) {
    // Any other error means that a SQLite file is damaged, or that its pages are only in the log.
    return (error as { readonly errcode?: number }).errcode !== SQLITE_NOTADB;
  }
}
