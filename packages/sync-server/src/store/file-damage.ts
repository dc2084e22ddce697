import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { RockpoolError } from '@rockpool/shared';
import { pagesInLog } from '../sqlite/wal-frames.ts';
import { PageSums, sumsPath } from '../sqlite/page-sums.ts';
import { readSqliteHeader, SQLITE_NOTADB } from '../sqlite/sqlite-header.ts';
import { sqliteCodeOf } from '../sqlite/sqlite-file.ts';

/** The kinds of damage of a database file, as named in log lines, errors and `doctor`. */
export type DamageProblem =
  | 'missing' // there is a checksum file, but no database file
  | 'empty'
  | 'truncated'
  | 'not-sqlite'
  | 'page-checksum' // pages differ from their checksums
  | 'log-checksum' // frames of the write-ahead log differ from their checksums
  | 'sqlite-corrupt'; // SQLite reports that the file is damaged

/** SQLite's result code for a damaged database. */
const SQLITE_CORRUPT = 11;

export function damagedError(
  problem: DamageProblem,
  { pages, cause }: { readonly pages?: number; readonly cause?: unknown } = {},
): RockpoolError {
  return new RockpoolError(
    'database-damaged',
    { problem, ...(pages !== undefined && { pages }) },
    cause === undefined ? {} : { cause },
  );
}

/**
 * Checks a file before SQLite opens it, because SQLite would create a new database in place of a missing or empty file.
 * Returns null if nothing is wrong, or if the database never existed.
 */
export function damageBeforeOpening(path: string): DamageProblem | null {
  const mark = damageMark(path);
  if (mark !== null) return mark;
  const sums = PageSums.openExisting(path);
  // A server that was killed while it was creating the database has not written the checksum file yet.
  if (sums === null) return !existsSync(path) && existsSync(sumsPath(path)) ? 'missing' : null;
  sums.close();
  const sizeBytes = statSync(path, { throwIfNoEntry: false })?.size;
  if (sizeBytes === undefined) return 'missing';
  if (sizeBytes === 0) return 'empty';
  return null;
}

/**
 * Whether a file lacks pages that a WAL checkpoint was about to move into it. If the server was killed at that moment,
 * its log has them.
 */
export function isTruncated(path: string): boolean {
  const sums = PageSums.openExisting(path);
  if (sums === null) return false;
  try {
    const { pageCount, pageSizeBytes } = sums;
    const stored = Math.floor(statSync(path).size / pageSizeBytes);
    if (stored >= pageCount) return false;
    const inLog = pagesInLog(path);
    // A page without a checksum was never written to the file: it was freed first, or it is the page of SQLite's locks.
    return sums.read(stored + 1, pageCount - stored).some((sum, i) => sum !== 0 && !inLog.has(stored + 1 + i));
  } finally {
    sums.close();
  }
}

/** Returns `database-damaged` if SQLite reports a damaged file, or null for any other error. */
export function sqliteDamage(thrown: unknown): RockpoolError | null {
  const code = sqliteCodeOf(thrown);
  const primary = code === null ? null : code & 0xff;
  return primary === SQLITE_CORRUPT || primary === SQLITE_NOTADB
    ? damagedError(primary === SQLITE_NOTADB ? 'not-sqlite' : 'sqlite-corrupt', { cause: thrown })
    : null;
}

/** Marks a database as damaged across restarts: it stays offline until its file is replaced or accepted. */
export function markDamaged(path: string, problem: DamageProblem): void {
  writeFileSync(markPath(path), `${problem}\n`);
}

export function markPath(path: string): string {
  return `${path}-damaged`;
}

/**
 * Creates the checksum file of a database from an earlier version, so that a missing or emptied database file is
 * noticed from now on.
 */
export function createChecksumFile(path: string): void {
  const header = existsSync(sumsPath(path)) ? null : readSqliteHeader(path);
  if (header !== null) PageSums.open(path, header.pageSizeBytes).close();
}

/** SQLite's default. A file that is installed later has checksums of its own. */
const MISSING_PAGE_BYTES = 4096;

/**
 * Makes a database count as missing, so that a server keeps it offline until its file is restored, instead of creating
 * it again: a checksum file without a database is what a lost file leaves.
 */
export function createMissing(path: string): void {
  PageSums.open(path, MISSING_PAGE_BYTES).close();
}

function damageMark(path: string): DamageProblem | null {
  const mark = markPath(path);
  return existsSync(mark) ? ((readFileSync(mark, 'utf8').trim() || 'page-checksum') as DamageProblem) : null;
}
