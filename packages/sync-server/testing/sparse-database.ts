import { closeSync, ftruncateSync, openSync, readSync, rmSync, statSync, writeSync } from 'node:fs';
import { sumsPath } from '../src/sqlite/page-sums.ts';

const PAGE_COUNT_OFFSET = 28;
const PAGE_SIZE_OFFSET = 16;
/** The disk space that a file of many gigabytes may take if the file system stores no zeros. */
const MAX_STORED_BYTES = 64 * 1024 * 1024;

/**
 * Makes the file of a closed database as large as given. Its new pages take no space: SQLite counts them, and no table
 * uses them. Like a file that another program wrote, it has no checksums. Throws if the file system stores the pages.
 */
export function growDatabase(path: string, sizeBytes: number): void {
  const file = openSync(path, 'r+');
  try {
    const header = Buffer.alloc(PAGE_COUNT_OFFSET + 4);
    readSync(file, header, 0, header.length, 0);
    header.writeUInt32BE(sizeBytes / header.readUInt16BE(PAGE_SIZE_OFFSET), PAGE_COUNT_OFFSET);
    writeSync(file, header, 0, header.length, 0);
    ftruncateSync(file, sizeBytes);
  } finally {
    closeSync(file);
  }
  rmSync(sumsPath(path), { force: true });
  const { blocks } = statSync(path);
  if (blocks * 512 > MAX_STORED_BYTES) throw new Error(`the file system stores ${blocks * 512} bytes of a sparse file`);
}

/** Fills a page of a file. */
export function writePage(path: string, page: number, content: Uint8Array): void {
  const file = openSync(path, 'r+');
  try {
    writeSync(file, content, 0, content.length, (page - 1) * content.length);
  } finally {
    closeSync(file);
  }
}
