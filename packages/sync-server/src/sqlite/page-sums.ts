import { closeSync, constants, fdatasyncSync, fstatSync, openSync, readSync, statSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import { writeWhole } from './write-whole.ts';

/*
 * `<database>-sums`: a checksum for each page of a SQLite file, so that bytes that changed on disk are noticed.
 *
 *   16 bytes   "RPSUMS1\n", u32 page size, u32 flags
 *   u32 each   CRC-32 of page 1, 2, 3 …; 0 if unknown
 *
 * All numbers are little-endian. In WAL mode only a checkpoint writes to the database file, so the checksums of the
 * pages in the log are written and synced right before each checkpoint (wal-checkpointer.ts). A page that is currently
 * in the log is not compared: the log holds a newer version, with its own checksums.
 *
 * Flag 1: the server has committed to the log and has not closed the database since. A killed server leaves its log
 * behind. Any program that then opens and closes the database, such as the sqlite3 shell, makes SQLite move the log
 * into the file without updating the checksums. Checksums with this flag and no log beside them are therefore stale.
 */
const MAGIC = 'RPSUMS1\n';
const HEADER_BYTES = 16;
const FLAGS_OFFSET = 12;
const LOG_IN_USE = 1;
const SUM_BYTES = 4;
/** Zeros that clear checksums block by block, because the checksums of a file of 100 GB take 100 MB. */
const FORGOTTEN_AT_ONCE = new Uint8Array(1024 * 1024);

/** The path of the checksum file of a database file. */
export function sumsPath(databasePath: string): string {
  return `${databasePath}-sums`;
}

/** CRC-32 of a page as stored: never 0, which stands for unknown. */
export function pageSum(page: Uint8Array): number {
  return crc32(page) || 1;
}

/** The checksums of one database file. */
export class PageSums {
  readonly pageSizeBytes: number;
  private readonly descriptor: number;
  private readonly databasePath: string;

  private constructor(descriptor: number, databasePath: string, pageSizeBytes: number) {
    this.descriptor = descriptor;
    this.databasePath = databasePath;
    this.pageSizeBytes = pageSizeBytes;
  }

  /**
   * Opens the checksum file for writing. Creates it if it is missing, and clears checksums that are stale or for
   * another page size.
   */
  static open(databasePath: string, pageSizeBytes: number): PageSums {
    const descriptor = openSync(sumsPath(databasePath), constants.O_RDWR | constants.O_CREAT, 0o644);
    if (readPageSize(descriptor) === pageSizeBytes) {
      const existing = new PageSums(descriptor, databasePath, pageSizeBytes);
      if (existing.isStale) {
        existing.forget();
        existing.setLogInUse(false);
      }
      return existing;
    }
    const header = Buffer.alloc(HEADER_BYTES);
    header.write(MAGIC, 0, 'latin1');
    header.writeUInt32LE(pageSizeBytes, 8);
    const sums = new PageSums(descriptor, databasePath, pageSizeBytes);
    if (sums.pageCount > 0) sums.forget();
    writeWhole(descriptor, header, 0);
    return sums;
  }

  /** Returns null if the file is missing or its header is incomplete. */
  static openExisting(databasePath: string): PageSums | null {
    let descriptor: number;
    try {
      descriptor = openSync(sumsPath(databasePath), 'r');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
      throw error;
    }
    const pageSizeBytes = readPageSize(descriptor);
    if (pageSizeBytes !== null) return new PageSums(descriptor, databasePath, pageSizeBytes);
    closeSync(descriptor);
    return null;
  }

  /**
   * True if another program has moved the log of a killed server into the file, so that the checksums no longer
   * describe the pages.
   */
  get isStale(): boolean {
    const logBytes = statSync(`${this.databasePath}-wal`, { throwIfNoEntry: false })?.size ?? 0;
    return logBytes === 0 && this.isLogInUse;
  }

  /** Whether the file has been replaced with the file of a different database. */
  get isReplaced(): boolean {
    return statSync(sumsPath(this.databasePath), { throwIfNoEntry: false })?.ino !== fstatSync(this.descriptor).ino;
  }

  /** Whether the server is using the log, or was killed while it did. */
  get isLogInUse(): boolean {
    return readHeader(this.descriptor)?.readUInt32LE(FLAGS_OFFSET) === LOG_IN_USE;
  }

  /**
   * Sets the flag after the first commit to the log, and clears it once a closing server has moved the log into the
   * file. The flag is durable when this returns.
   */
  setLogInUse(isInUse: boolean): void {
    const flags = Buffer.alloc(4);
    flags.writeUInt32LE(isInUse ? LOG_IN_USE : 0);
    writeWhole(this.descriptor, flags, FLAGS_OFFSET);
    fdatasyncSync(this.descriptor);
  }

  /** The number of pages that the database had at its last checkpoint. */
  get pageCount(): number {
    return Math.max(0, Math.floor((fstatSync(this.descriptor).size - HEADER_BYTES) / SUM_BYTES));
  }

  /** Reads the checksums of `count` pages starting at page `first`; 0 if unknown. */
  read(first: number, count: number): Uint32Array {
    const sums = new Uint32Array(count);
    readSync(this.descriptor, new Uint8Array(sums.buffer), 0, count * SUM_BYTES, offsetOf(first));
    return sums;
  }

  /** Writes checksums; they are durable when this returns. */
  write(sumByPage: ReadonlyMap<number, number>): void {
    const pages = [...sumByPage.keys()].sort((a, b) => a - b);
    for (let start = 0; start < pages.length;) {
      let end = start + 1;
      while (end < pages.length && pages[end] === (pages[end - 1] ?? 0) + 1) end++;
      const run = Uint32Array.from(pages.slice(start, end), (page) => sumByPage.get(page) ?? 0);
      writeWhole(this.descriptor, new Uint8Array(run.buffer), offsetOf(pages[start] ?? 0));
      start = end;
    }
    fdatasyncSync(this.descriptor);
  }

  close(): void {
    closeSync(this.descriptor);
  }

  private forget(): void {
    const end = offsetOf(this.pageCount + 1);
    for (let offset = HEADER_BYTES; offset < end; offset += FORGOTTEN_AT_ONCE.length)
      writeWhole(this.descriptor, FORGOTTEN_AT_ONCE.subarray(0, end - offset), offset);
  }
}

function offsetOf(page: number): number {
  return HEADER_BYTES + (page - 1) * SUM_BYTES;
}

function readPageSize(descriptor: number): number | null {
  return readHeader(descriptor)?.readUInt32LE(8) ?? null;
}

function readHeader(descriptor: number): Buffer | null {
  const header = Buffer.alloc(HEADER_BYTES);
  const isWhole = readSync(descriptor, header, 0, HEADER_BYTES, 0) === HEADER_BYTES;
  return isWhole && header.toString('latin1', 0, MAGIC.length) === MAGIC ? header : null;
}
