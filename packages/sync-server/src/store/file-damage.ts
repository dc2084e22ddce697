import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { RockpoolError } from '@rockpool/shared';
import { PageSums, sumsPath } from '../sqlite/page-sums.ts';
import { fileHeader } from '../sqlite/sqlite-header.ts';
import { sqliteCodeOf } from '../sqlite/sqlite-file.ts';

/** What is wrong with the file of a database, as it stands in logs, in errors and in `doctor`. */
export type DamageProblem =
  | 'missing' // its checksums are there, the file is not
  | 'empty'
  | 'truncated'
  | 'not-sqlite'
  | 'page-checksum' // pages differ from their checksums
  | 'log-checksum' // so does the write-ahead log
  | 'sqlite-corrupt'; // SQLite itself finds it damaged

// Primary result codes of SQLite.
const SQLITE_CORRUPT = 11;
const SQLITE_NOTADB = 26;

export function damaged(
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
 * Looks at a file before SQLite opens it, which would make an empty one of it, or begin a new database where it is
 * missing. Null: nothing is wrong, or there never was one.
 */
export function damageBeforeOpening(path: string): DamageProblem | null {
  const mark = damageMark(path);
  if (mark !== null) return mark;
  const sums = PageSums.openExisting(path);
  // A server that was killed while it created the database has not got as far as its checksums.
  if (sums === null) return null;
  sums.close();
  const sizeBytes = statSync(path, { throwIfNoEntry: false })?.size;
  if (sizeBytes === undefined) return 'missing';
  if (sizeBytes === 0) return 'empty';
  return fileHeader(path) === null ? 'not-sqlite' : null;
}

/** Whether a file lacks pages that a checkpoint has moved into it. To be called while its log is empty. */
export function isTruncated(path: string): boolean {
  const sums = PageSums.openExisting(path);
  if (sums === null) return false;
  const { pageCount, pageSizeBytes } = sums;
  sums.close();
  return statSync(path).size < pageCount * pageSizeBytes;
}

/** `database-damaged` where SQLite says that a file is damaged; null for everything else. */
export function sqliteDamage(thrown: unknown): RockpoolError | null {
  const code = sqliteCodeOf(thrown);
  const primary = code === null ? null : code & 0xff;
  return primary === SQLITE_CORRUPT || primary === SQLITE_NOTADB ? damaged('sqlite-corrupt', { cause: thrown }) : null;
}

/** Holds across restarts that a database is damaged: it stays offline until its file is replaced or accepted. */
export function markDamaged(path: string, problem: DamageProblem): void {
  writeFileSync(markPath(path), `${problem}\n`);
}

export function markPath(path: string): string {
  return `${path}-damaged`;
}

/**
 * Makes the checksum file of a database of an earlier version, so that from now on a missing or emptied file is
 * noticed.
 */
export function beginChecksums(path: string): void {
  const header = existsSync(sumsPath(path)) ? null : fileHeader(path);
  if (header !== null) PageSums.open(path, header.pageSizeBytes).close();
}

function damageMark(path: string): DamageProblem | null {
  const mark = markPath(path);
  return existsSync(mark) ? ((readFileSync(mark, 'utf8').trim() || 'page-checksum') as DamageProblem) : null;
}
