import { closeSync, openSync, readSync } from 'node:fs';
import { endianness } from 'node:os';
import { RockpoolError } from '@rockpool/shared';
import { pageSum } from './page-sums.ts';

/*
 * SQLite's write-ahead log, as described in https://sqlite.org/fileformat2.html#walformat: a header of 32 bytes, then
 * frames, each a header of 24 bytes and a page. All numbers are big-endian; the magic number names the byte order of
 * the words that the checksums run over.
 */
const WAL_HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;
const MAGIC_LITTLE_ENDIAN = 0x377f0682;

/** Frames per read: about 2 MB with pages of 4 KiB. */
const FRAMES_PER_READ = 512;

interface WalHeader {
  readonly pageSizeBytes: number;
  readonly isLittleEndian: boolean;
  readonly salts: Buffer;
  readonly checksum: readonly [number, number];
}

/**
 * Returns the checksum of the newest version of each page among the first `frameCount` frames of a log. Throws
 * `database-damaged` if a frame is not what SQLite wrote, before a checkpoint copies it into the database file.
 */
export function sumsOfLog(databasePath: string, frameCount: number): Map<number, number> {
  const sums = new Map<number, number>();
  forEachFrame(
    databasePath,
    (header, frame, previous) => {
      const checksum = requireIntact(header, frame, previous);
      sums.set(frame.readUInt32BE(0), pageSum(frame.subarray(FRAME_HEADER_BYTES)));
      return checksum;
    },
    frameCount,
  );
  return sums;
}

/**
 * Returns the pages that may have a newer version in the log. Does not verify checksums, so the result may contain
 * extra pages but never lacks one.
 */
export function pagesInLog(databasePath: string): Set<number> {
  const pages = new Set<number>();
  forEachFrame(databasePath, (header, frame) => {
    if (!frame.subarray(8, 16).equals(header.salts)) return null;
    pages.add(frame.readUInt32BE(0));
    return header.checksum;
  });
  return pages;
}

/** A position in a log, after this number of frames. */
export interface WalPosition {
  /** The salts in the log's header, which change when SQLite restarts the log. */
  readonly salts: Buffer;
  readonly frames: number;
  /** The running checksum of the last frame. */
  readonly checksum: readonly [number, number];
}

/**
 * Calls `visit` with the page of each frame after a position, up to frame `frameCount`, which counts from the start of
 * the log. If the log has restarted since, visits it from its start. Returns the new position, or null without a log.
 * Throws `database-damaged` if a frame is not what SQLite wrote.
 */
export function readLogAfter(
  databasePath: string,
  after: WalPosition | null,
  frameCount: number,
  visit: (page: number, frame: number) => void,
): WalPosition | null {
  let position: WalPosition | null = null;
  let number = 0;
  forEachFrame(
    databasePath,
    (header, frame, previous) => {
      const checksum = requireIntact(header, frame, previous);
      visit(frame.readUInt32BE(0), ++number);
      position = { salts: header.salts, frames: number, checksum };
      return checksum;
    },
    frameCount,
    ({ salts, checksum }) => {
      const continues = after !== null && salts.equals(after.salts) && after.frames <= frameCount;
      position = continues ? after : { salts, frames: 0, checksum };
      number = position.frames;
      return position;
    },
  );
  return position;
}

/** The offset of the page of a frame. Frames count from 1. */
export function frameContentOffset(frame: number, pageSizeBytes: number): number {
  return WAL_HEADER_BYTES + (frame - 1) * (FRAME_HEADER_BYTES + pageSizeBytes) + FRAME_HEADER_BYTES;
}

/**
 * `visit` returns the running checksum for the next frame, or null to stop. `begin` returns the position to start
 * after. Default: the start of the log.
 */
function forEachFrame(
  databasePath: string,
  visit: (header: WalHeader, frame: Buffer, previous: readonly [number, number]) => readonly [number, number] | null,
  frameCount = Infinity,
  begin: (header: WalHeader) => Pick<WalPosition, 'frames' | 'checksum'> = ({ checksum }) => ({ frames: 0, checksum }),
): void {
  const descriptor = openLog(databasePath);
  if (descriptor === null) return;
  try {
    const header = readHeader(descriptor);
    if (header === null) return;
    const frameBytes = FRAME_HEADER_BYTES + header.pageSizeBytes;
    const start = begin(header);
    const buffer = Buffer.allocUnsafe(frameBytes * Math.min(Math.max(0, frameCount - start.frames), FRAMES_PER_READ));
    let checksum: readonly [number, number] | null = start.checksum;
    for (let done = start.frames; done < frameCount;) {
      const wanted = Math.min(frameCount - done, FRAMES_PER_READ) * frameBytes;
      const read = Math.floor(
        readSync(descriptor, buffer, 0, wanted, WAL_HEADER_BYTES + done * frameBytes) / frameBytes,
      );
      if (read === 0) return;
      for (let i = 0; i < read; i++) {
        checksum = visit(header, buffer.subarray(i * frameBytes, (i + 1) * frameBytes), checksum);
        if (checksum === null) return;
      }
      done += read;
    }
  } finally {
    closeSync(descriptor);
  }
}

function openLog(databasePath: string): number | null {
  try {
    return openSync(`${databasePath}-wal`, 'r');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

function readHeader(descriptor: number): WalHeader | null {
  const header = Buffer.alloc(WAL_HEADER_BYTES);
  if (readSync(descriptor, header, 0, WAL_HEADER_BYTES, 0) < WAL_HEADER_BYTES) return null;
  const magic = header.readUInt32BE(0);
  // The lowest bit gives the byte order; the other bits are constant.
  if ((magic & ~1) >>> 0 !== MAGIC_LITTLE_ENDIAN) return null;
  return {
    pageSizeBytes: header.readUInt32BE(8),
    isLittleEndian: magic === MAGIC_LITTLE_ENDIAN,
    salts: header.subarray(16, 24),
    checksum: [header.readUInt32BE(24), header.readUInt32BE(28)],
  };
}

/** Returns the running checksum after a frame. Throws if the frame has a different one. */
function requireIntact(
  header: WalHeader,
  frame: Buffer,
  previous: readonly [number, number],
): readonly [number, number] {
  const checksum = frameChecksum(header, frame, previous);
  if (
    !frame.subarray(8, 16).equals(header.salts) ||
    checksum[0] !== frame.readUInt32BE(16) ||
    checksum[1] !== frame.readUInt32BE(20)
  ) {
    throw new RockpoolError('database-damaged', { problem: 'log-checksum' });
  }
  return checksum;
}

/** Continues the running checksum of the log over the first 8 bytes of a frame header and the page. */
function frameChecksum(
  { isLittleEndian }: WalHeader,
  frame: Buffer,
  previous: readonly [number, number],
): readonly [number, number] {
  const words = wordsOf(frame, isLittleEndian);
  // Local variables of one loop, which V8 keeps in registers. In a closure they would take nine times as long.
  let first = (previous[0] + (words[0] as number) + previous[1]) | 0;
  let second = (previous[1] + (words[1] as number) + first) | 0;
  for (let i = FRAME_HEADER_BYTES / 4; i < words.length; i += 2) {
    first = (first + (words[i] as number) + second) | 0;
    second = (second + (words[i + 1] as number) + first) | 0;
  }
  return [first >>> 0, second >>> 0];
}

/**
 * An array of words is several times as fast as a DataView. It has the byte order of this machine, as its own logs do.
 */
function wordsOf(frame: Buffer, isLittleEndian: boolean): Int32Array {
  const { buffer, byteOffset, length } =
    isLittleEndian === (endianness() === 'LE') ? frame : Buffer.from(frame).swap32();
  return new Int32Array(buffer, byteOffset, length / 4);
}
