import { readSync, rmSync } from 'node:fs';
import { openBesideSqlite } from '../sqlite/beside-sqlite.ts';
import { forgetCopies } from './data-directory.ts';
import { damagedError, markPath } from './file-damage.ts';
import { PageSums, pageSum, sumsPath } from '../sqlite/page-sums.ts';
import { SqliteFile } from '../sqlite/sqlite-file.ts';
import { readSqliteHeader } from '../sqlite/sqlite-header.ts';

const SLICE_PAGES = 256;

/**
 * Accepts a database file in its current state: recomputes the checksums of all pages and removes the damage mark. The
 * file must not be open in a server. Throws `database-damaged`, without changing anything, if SQLite's integrity check
 * fails.
 */
export function acceptFile(path: string): void {
  const looking = new SqliteFile(path, { readOnly: true });
  try {
    if (looking.get('PRAGMA integrity_check(1)')?.[0] !== 'ok') throw damagedError('sqlite-corrupt');
  } finally {
    looking.close();
  }
  for (const old of [sumsPath(path), markPath(path)]) rmSync(old, { force: true });
  forgetCopies(path);
  const sql = new SqliteFile(path);
  try {
    sql.checkpoint();
    writeMissingSums(path);
  } finally {
    sql.close();
  }
}

/**
 * Writes checksums for pages that have none yet, such as pages written by an earlier version. Must run in the process
 * and thread that runs the WAL checkpoints: a checkpoint between reading a page and writing its checksum would leave a
 * wrong checksum. Returns the number of pages that had no checksum.
 */
export function writeMissingSums(path: string): number {
  const header = readSqliteHeader(path);
  if (header === null) throw damagedError('not-sqlite');
  const { pageSizeBytes, pageCount } = header;
  const sums = PageSums.open(path, pageSizeBytes);
  const file = openBesideSqlite(path);
  try {
    let sealed = 0;
    for (let first = 1; first <= pageCount; first += SLICE_PAGES) {
      const count = Math.min(SLICE_PAGES, pageCount - first + 1);
      const known = sums.read(first, count);
      if (known.every((sum) => sum !== 0)) continue;
      const slice = Buffer.alloc(count * pageSizeBytes);
      readSync(file.descriptor, slice, 0, slice.length, (first - 1) * pageSizeBytes);
      const missing = new Map<number, number>();
      known.forEach((sum, i) => {
        if (sum === 0) missing.set(first + i, pageSum(slice.subarray(i * pageSizeBytes, (i + 1) * pageSizeBytes)));
      });
      sums.write(missing);
      sealed += missing.size;
    }
    return sealed;
  } finally {
    file.release();
    sums.close();
  }
}
