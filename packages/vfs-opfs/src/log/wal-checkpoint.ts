import type { GuardedFile } from '../media/guarded-file.ts';
import type { DatabaseFiles } from '../pages/page-view.ts';
import type { Generation } from './generation.ts';
import type { LogWriter } from './log-writer.ts';

/** Maximum number of bytes that are read, assembled and written with one call. */
const RUN_BYTES = 1024 * 1024;

/**
 * Copies a sealed generation into the database file: the newest version of each of its pages, in order, adjacent pages
 * with one write.
 *
 * A kill between any two calls is harmless because of their order (docs/storage.md, crash table):
 * flush the log → mark it `copying` → copy → flush the database file → mark it `done` → flush that mark.
 *
 * Only then may the segment be reused. Yields after each write, so that the caller can run other work in between.
 */
export function* copyIntoDatabase(
  files: DatabaseFiles,
  log: LogWriter,
  generation: Generation,
  pageSizeBytes: number,
): Generator<undefined, void, undefined> {
  const { database } = files;
  log.flushSegment(generation.segment);
  log.setState(generation, 'copying');
  if (database.sizeBytes() > generation.smallestSizeBytes) database.truncate(generation.smallestSizeBytes);
  yield* copyPages(database, files.segments[generation.segment]!, generation, pageSizeBytes);
  if (database.sizeBytes() !== generation.sizeBytes) database.truncate(generation.sizeBytes);
  database.flush();
  log.setState(generation, 'done');
  log.flushSegment(generation.segment);
}

function* copyPages(
  database: GuardedFile,
  segment: GuardedFile,
  generation: Generation,
  pageSizeBytes: number,
): Generator<undefined, void, undefined> {
  const pages = Uint32Array.from(generation.positions.keys()).sort();
  const buffer = new Uint8Array(Math.max(RUN_BYTES, pageSizeBytes));
  const pagesPerRun = buffer.length / pageSizeBytes;
  for (let first = 0; first < pages.length;) {
    let count = 1;
    while (count < pagesPerRun && first + count < pages.length && pages[first + count] === pages[first]! + count)
      count += 1;
    readRun(segment, generation, pages.subarray(first, first + count), buffer, pageSizeBytes);
    const at = (pages[first]! - 1) * pageSizeBytes;
    // The last page may reach beyond the end of the database when SQLite's pages are smaller than the log's.
    const length = Math.min(count * pageSizeBytes, generation.sizeBytes - at);
    if (length > 0) database.write(buffer.subarray(0, length), at);
    first += count;
    yield;
  }
}

/** Reads pages that are adjacent in the database, with one call for those that are adjacent in the log too. */
function readRun(
  segment: GuardedFile,
  generation: Generation,
  pages: Uint32Array,
  into: Uint8Array,
  pageSizeBytes: number,
): void {
  for (let first = 0; first < pages.length;) {
    const position = generation.positions.get(pages[first]!)!;
    let count = 1;
    while (
      first + count < pages.length &&
      generation.positions.get(pages[first + count]!) === position + count * pageSizeBytes
    )
      count += 1;
    segment.readOrZeros(into.subarray(first * pageSizeBytes, (first + count) * pageSizeBytes), position);
    first += count;
  }
}
