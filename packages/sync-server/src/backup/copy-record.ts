import { closeSync, constants, fdatasyncSync, futimesSync, openSync, readSync, renameSync } from 'node:fs';
import { dirname } from 'node:path';
import { crc32 } from 'node:zlib';
import { writeWhole } from '../sqlite/write-whole.ts';
import { syncPath } from '../store/write-durably.ts';
import { StateSum } from './state-sum.ts';

/*
 * `<database>-copied`: what the destination has of a database, so that only differences are copied, even after a
 * restart.
 *
 *   8 bytes     "RPCOPY1\n"
 *   u32, u32    CRC-32 and length in bytes of the facts
 *   JSON        CopyFacts; padded, so that the sums begin at byte 512
 *   u32 each    CRC-32 of page 1, 2, 3 … as copied
 *
 * The sums are written after the copy is stored, and the facts after the sums. A server that is killed in between
 * leaves sums that do not add up to the state sum of the facts, or that describe the copy before the last one. The
 * former is detected when the record is opened. The latter is harmless: the next copy has the same number, contains
 * everything that differs from the sums, and replaces the copy that is not in the record.
 */
const MAGIC = 'RPCOPY1\n';
const FACTS_OFFSET = 16;
const SUMS_OFFSET = 512;
const SUM_BYTES = 4;
const PAGES_PER_READ = 64 * 1024;

/** The record of a database at the destination. */
export interface CopyFacts {
  /** A hash of the destination's name. */
  readonly destination: string;
  readonly generation: string;
  /** The number of the last copy. The base is 0. */
  readonly copies: number;
  readonly pageSizeBytes: number;
  readonly pageCount: number;
  /** See StateSum. */
  readonly stateSum: string;
  /** The time of the newest commit in the last copy, ms since 1970. */
  readonly timeMs: number;
  readonly watermark: number | null;
  /** The stored bytes of the base. */
  readonly baseBytes: number;
  /** The stored bytes of all copies since the base. */
  readonly addedBytes: number;
  /** When the base was begun, ms since 1970. */
  readonly startedMs: number;
  /** Whether the file was closed and the copy is complete. Any later use of the file changes its checksum file. */
  readonly isComplete: boolean;
}

export function recordPath(databasePath: string): string {
  return `${databasePath}-copied`;
}

/**
 * The time of a deletion that happens now: never before the newest copy, even if the clock was set back since. A
 * database that was replaced keeps the record of its copies under the name of an unfinished one (`forgetCopies`).
 */
export function deletionMs(databasePath: string): number {
  const path = recordPath(databasePath);
  return Math.max(Date.now(), ...[path, unfinishedPath(path)].map((one) => readFactsAt(one)?.timeMs ?? 0));
}

/** Reads the facts alone. Null if the file was never copied, or the record is damaged. */
export function readCopyFacts(databasePath: string): CopyFacts | null {
  return readFactsAt(recordPath(databasePath));
}

function unfinishedPath(record: string): string {
  return `${record}.new`;
}

function readFactsAt(path: string): CopyFacts | null {
  let descriptor: number;
  try {
    descriptor = openSync(path, 'r');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
  try {
    return readFacts(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** The record of one database. */
export class CopyRecord {
  facts: CopyFacts;
  private readonly descriptor: number;

  private constructor(descriptor: number, facts: CopyFacts) {
    this.descriptor = descriptor;
    this.facts = facts;
  }

  /**
   * Returns null if there is no record, and `damaged` if the record cannot be trusted, so that the state of the copies
   * is unknown.
   */
  static open(databasePath: string): CopyRecord | 'damaged' | null {
    let descriptor: number;
    try {
      descriptor = openSync(recordPath(databasePath), 'r+');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
      throw error;
    }
    const facts = readFacts(descriptor);
    const record = facts === null ? null : new CopyRecord(descriptor, facts);
    if (record?.addsUp() === true) return record;
    closeSync(descriptor);
    return 'damaged';
  }

  /** Begins the record of a new generation, which replaces the old one in `finish`. */
  static begin(databasePath: string): NewRecord {
    return new NewRecord(databasePath);
  }

  /** Continues with a record that was just written. */
  static written(descriptor: number, facts: CopyFacts): CopyRecord {
    return new CopyRecord(descriptor, facts);
  }

  /** The checksums of `count` pages as copied, starting at page `first`; 0 for a page that the copy lacks. */
  read(first: number, count: number): Uint32Array {
    const sums = new Uint32Array(count);
    const known = Math.min(count, Math.max(0, this.facts.pageCount - first + 1));
    if (known > 0) readSync(this.descriptor, new Uint8Array(sums.buffer), 0, known * SUM_BYTES, offsetOf(first));
    return sums;
  }

  /** Records a copy that is stored. `sums` has the pages that it changed. */
  update(sums: ReadonlyMap<number, number>, facts: CopyFacts): void {
    writeSums(this.descriptor, sums);
    this.setFacts(facts);
  }

  /** Records whether the copy is complete when a file is closed. Durable when this returns. */
  setComplete(isComplete: boolean): void {
    if (this.facts.isComplete === isComplete) return;
    this.setFacts({ ...this.facts, isComplete });
    fdatasyncSync(this.descriptor);
  }

  /** Sets the modification time, which is the time of the last use of the database. The file may have been removed. */
  setUsed(time: Date): void {
    futimesSync(this.descriptor, time, time);
  }

  close(): void {
    closeSync(this.descriptor);
  }

  private setFacts(facts: CopyFacts): void {
    writeFacts(this.descriptor, facts);
    this.facts = facts;
  }

  private addsUp(): boolean {
    const sum = new StateSum();
    const { pageCount, stateSum } = this.facts;
    for (let first = 1; first <= pageCount; first += PAGES_PER_READ)
      this.read(first, Math.min(PAGES_PER_READ, pageCount - first + 1)).forEach((pageSum, i) =>
        sum.toggle(first + i, pageSum),
      );
    return sum.toHex() === stateSum;
  }
}

/** The record of a generation whose base is being copied. */
export class NewRecord {
  private readonly databasePath: string;
  private readonly descriptor: number;

  constructor(databasePath: string) {
    this.databasePath = databasePath;
    this.descriptor = openSync(this.path, constants.O_RDWR | constants.O_CREAT | constants.O_TRUNC, 0o644);
  }

  /**
   * Makes the name durable. If it were lost in a power cut after the base is stored, a deletion of the database would
   * not be recorded.
   */
  keep(): void {
    syncPath(dirname(this.path));
  }

  add(sums: ReadonlyMap<number, number>): void {
    writeSums(this.descriptor, sums);
  }

  /** Call `discard` if this throws, for example because the disk is full or the database was deleted. */
  finish(facts: CopyFacts): CopyRecord {
    writeFacts(this.descriptor, facts);
    fdatasyncSync(this.descriptor);
    renameSync(this.path, recordPath(this.databasePath));
    return CopyRecord.written(this.descriptor, facts);
  }

  /**
   * The file stays, and the next generation replaces it: the destination may have the whole base although its last
   * response was lost, so a deletion of the database has to be recorded (store/file-change.ts).
   */
  discard(): void {
    closeSync(this.descriptor);
  }

  private get path(): string {
    return unfinishedPath(recordPath(this.databasePath));
  }
}

function offsetOf(page: number): number {
  return SUMS_OFFSET + (page - 1) * SUM_BYTES;
}

function writeSums(descriptor: number, sums: ReadonlyMap<number, number>): void {
  const pages = [...sums.keys()].sort((a, b) => a - b);
  for (let start = 0; start < pages.length;) {
    let end = start + 1;
    while (end < pages.length && pages[end] === (pages[end - 1] ?? 0) + 1) end++;
    const run = Uint32Array.from(pages.slice(start, end), (page) => sums.get(page) ?? 0);
    writeWhole(descriptor, new Uint8Array(run.buffer), offsetOf(pages[start] ?? 0));
    start = end;
  }
}

function writeFacts(descriptor: number, facts: CopyFacts): void {
  const json = Buffer.from(JSON.stringify(facts));
  const block = Buffer.alloc(SUMS_OFFSET);
  block.write(MAGIC, 0, 'latin1');
  block.writeUInt32LE(crc32(json), 8);
  block.writeUInt32LE(json.length, 12);
  json.copy(block, FACTS_OFFSET);
  writeWhole(descriptor, block, 0);
}

function readFacts(descriptor: number): CopyFacts | null {
  const block = Buffer.alloc(SUMS_OFFSET);
  const read = readSync(descriptor, block, 0, SUMS_OFFSET, 0);
  if (read < SUMS_OFFSET || block.toString('latin1', 0, MAGIC.length) !== MAGIC) return null;
  const json = block.subarray(FACTS_OFFSET, FACTS_OFFSET + block.readUInt32LE(12));
  return crc32(json) === block.readUInt32LE(8) ? (JSON.parse(json.toString()) as CopyFacts) : null;
}
