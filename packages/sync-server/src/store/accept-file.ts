import { closeSync, openSync, readSync, rmSync } from 'node:fs';
import { damaged, markPath } from './file-damage.ts';
import { PageSums, pageSum, sumsPath } from '../sqlite/page-sums.ts';
import { SqliteFile } from '../sqlite/sqlite-file.ts';
import { fileHeader } from '../sqlite/sqlite-header.ts';

const SLICE_PAGES = 256;

/**
 * Takes a database file as it is: computes the checksums of all its pages again and lifts the mark of a damaged one.
 * Only while no server has it open. Throws `database-damaged`, and changes nothing, where SQLite finds it damaged.
 */
export function acceptFile(path: string): void {
  const looking = new SqliteFile(path, { readOnly: true });
  try {
    if (looking.get('PRAGMA integrity_check(1)')?.[0] !== 'ok') throw damaged('sqlite-corrupt');
  } finally {
    looking.close();
  }
  for (const old of [sumsPath(path), markPath(path)]) rmSync(old, { force: true });
  const sql = new SqliteFile(path);
  try {
    sql.checkpoint();
    sealUnknownPages(path);
  } finally {
    sql.close();
  }
}

/**
 * Gives the pages of a file that have no checksum yet the one of what they hold, such as those that an earlier version
 * has written. Only in the process and thread that makes the checkpoints: none may come between reading a page and
 * writing its sum. Returns how many pages had none.
 */
export function sealUnknownPages(path: string): number {
  const header = fileHeader(path);
  if (header === null) throw damaged('not-sqlite');
  const { pageSizeBytes, pageCount } = header;
  const sums = PageSums.open(path, pageSizeBytes);
  const descriptor = openSync(path, 'r');
  try {
    let sealed = 0;
    for (let first = 1; first <= pageCount; first += SLICE_PAGES) {
      const count = Math.min(SLICE_PAGES, pageCount - first + 1);
      const known = sums.read(first, count);
      if (known.every((sum) => sum !== 0)) continue;
      const slice = Buffer.alloc(count * pageSizeBytes);
      readSync(descriptor, slice, 0, slice.length, (first - 1) * pageSizeBytes);
      const missing = new Map<number, number>();
      known.forEach((sum, i) => {
        if (sum === 0) missing.set(first + i, pageSum(slice.subarray(i * pageSizeBytes, (i + 1) * pageSizeBytes)));
      });
      sums.write(missing);
      sealed += missing.size;
    }
    return sealed;
  } finally {
    closeSync(descriptor);
    sums.close();
  }
}
