import { fstatSync, read, statSync } from 'node:fs';
import { promisify } from 'node:util';
import { openBesideSqlite } from '../sqlite/beside-sqlite.ts';
import { PageSums, pageSum } from '../sqlite/page-sums.ts';
import { pagesInLog } from '../sqlite/wal-frames.ts';

/**
 * Bytes per read. Reading runs on the thread pool; the checksums of a slice take about 0.5 ms of the caller's thread.
 */
const SLICE_BYTES = 1024 * 1024;

export interface PageVerification {
  /** Number of pages compared with their checksums. */
  readonly compared: number;
  /** Number of pages that have no checksum yet. */
  readonly unknown: number;
  /** Page numbers, from 1, of pages that differ from their checksums. */
  readonly damaged: readonly number[];
}

export interface VerifyOptions {
  /** Awaited between slices. Default: no pause. */
  readonly pause?: () => Promise<void>;
  readonly signal?: AbortSignal;
}

/**
 * Compares all pages of a database file with their checksums, also while a server writes to it. Reads the file once.
 * Rejects with an I/O error, or with the reason of the signal.
 */
export async function verifyPages(
  path: string,
  { pause = () => Promise.resolve(), signal }: VerifyOptions = {},
): Promise<PageVerification> {
  const sums = PageSums.openExisting(path);
  if (sums === null) return NOTHING_COMPARED;
  if (sums.isStale) {
    const unknown = sums.pageCount;
    sums.close();
    return { compared: 0, unknown, damaged: [] };
  }
  try {
    const { descriptor: file, release } = openBesideSqlite(path);
    try {
      let compared = 0;
      let unknown = 0;
      const damaged: number[] = [];
      const slicePages = Math.max(1, Math.floor(SLICE_BYTES / sums.pageSizeBytes));
      const pageCount = Math.max(sums.pageCount, Math.floor(fstatSync(file).size / sums.pageSizeBytes));
      for (let first = 1; first <= pageCount; first += slicePages) {
        signal?.throwIfAborted();
        const count = Math.min(slicePages, pageCount - first + 1);
        const slice = await compareSlice(path, file, sums, first, count);
        compared += slice.compared;
        unknown += slice.unknown;
        damaged.push(...slice.damaged);
        await pause();
      }
      // The file was replaced during the reading, so the compared pages may belong to two databases.
      if (damaged.length > 0 && (sums.isReplaced || isReplaced(path, file))) return NOTHING_COMPARED;
      return { compared, unknown, damaged };
    } finally {
      release();
    }
  } finally {
    sums.close();
  }
}

const readAt = promisify(read);

const NOTHING_COMPARED: PageVerification = { compared: 0, unknown: 0, damaged: [] };

function isReplaced(path: string, file: number): boolean {
  return statSync(path, { throwIfNoEntry: false })?.ino !== fstatSync(file).ino;
}

async function compareSlice(
  path: string,
  file: number,
  sums: PageSums,
  first: number,
  count: number,
): Promise<PageVerification> {
  const before = await readPages(file, sums, first, count);
  const expected = sums.read(first, count);
  let compared = 0;
  let unknown = 0;
  const differing: number[] = [];
  for (let i = 0; i < count; i++) {
    if (expected[i] === 0) unknown++;
    else if (pageSum(before[i] ?? NO_PAGE) === expected[i]) compared++;
    else differing.push(first + i);
  }
  const damaged: number[] = [];
  for (const page of differing) if (await isDamaged(path, file, sums, page)) damaged.push(page);
  return { compared: compared + differing.length, unknown, damaged };
}

const NO_PAGE = new Uint8Array(0);

/**
 * A mismatch may come from a checkpoint that moves a newer version of the page between the two reads. Reads again until
 * checksum and page are the same twice in a row: a damaged page does not change.
 */
async function isDamaged(path: string, file: number, sums: PageSums, page: number): Promise<boolean> {
  for (let last: string | null = null; ;) {
    const [content = NO_PAGE] = await readPages(file, sums, page, 1);
    const [expected = 0] = sums.read(page, 1);
    const actual = pageSum(content);
    if (actual === expected || expected === 0 || pagesInLog(path).has(page)) return false;
    const seen = `${actual} ${expected}`;
    if (seen === last) return true;
    last = seen;
  }
}

async function readPages(
  file: number,
  { pageSizeBytes }: PageSums,
  first: number,
  count: number,
): Promise<Uint8Array[]> {
  const buffer = Buffer.allocUnsafe(count * pageSizeBytes);
  const { bytesRead } = await readAt(file, buffer, 0, buffer.length, (first - 1) * pageSizeBytes);
  return Array.from({ length: Math.floor(bytesRead / pageSizeBytes) }, (_, i) =>
    buffer.subarray(i * pageSizeBytes, (i + 1) * pageSizeBytes),
  );
}
