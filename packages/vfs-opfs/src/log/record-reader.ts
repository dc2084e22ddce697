import type { GuardedFile } from '../media/guarded-file.ts';
import type { Generation } from './generation.ts';
import { resizeGeneration } from './generation.ts';
import {
  KIND_COMMIT,
  KIND_PART,
  KIND_SEAL,
  RECORD_HEADER_BYTES,
  RECORD_TRAILER_BYTES,
  emptyRecordHeader,
  getRecordHeader,
  getTrailer,
  pageNumbersAt,
  recordLength,
  trailerAt,
  verifiedChecksum,
} from './record-format.ts';
import { wordBuffer } from './words.ts';
import type { WordBuffer } from './words.ts';

/**
 * How much of a transaction is verified. `every-record`: after a crash, every record may be torn. `last-record`: with a
 * live writer, only the last one can be partly visible, because the calls that wrote the earlier records have returned.
 */
export type Proof = 'every-record' | 'last-record';

/** Reads the log forwards, one transaction at a time, and stops at the first incomplete record. */
export class RecordReader {
  /** Page numbers of the transaction just read, in the order of its records; 0 for a page that was truncated. */
  readonly pageNumbers: number[] = [];
  /** First index in `pageNumbers` with bytes in `buffer`: the pages of the last record. */
  inBufferFrom = 0;
  buffer: WordBuffer = wordBuffer(0);

  readonly #pageSizeBytes: number;
  readonly #header = emptyRecordHeader();
  readonly #probe = wordBuffer(RECORD_HEADER_BYTES);
  readonly #positions: number[] = [];

  constructor(pageSizeBytes: number) {
    this.#pageSizeBytes = pageSizeBytes;
  }

  /** Offset in `buffer` of the page with this index in `pageNumbers`. */
  pageInBuffer(index: number): number {
    return RECORD_HEADER_BYTES + (index - this.inBufferFrom) * this.#pageSizeBytes;
  }

  /** Reads the next transaction into `generation` and returns `commit`; `seal` and `none` leave it unchanged. */
  readTransaction(segment: GuardedFile, generation: Generation, proof: Proof): 'commit' | 'seal' | 'none' {
    this.pageNumbers.length = 0;
    this.#positions.length = 0;
    const header = this.#header;
    let at = generation.end;
    let chain = generation.lastChecksum;
    for (let part = 0; ; part += 1) {
      if (segment.read(this.#probe.bytes, at) < RECORD_HEADER_BYTES) return 'none';
      if (!getRecordHeader(this.#probe.words, 0, generation.number, generation.salt, header) || header.chain !== chain)
        return 'none';
      if (header.kind === KIND_SEAL)
        return part === 0 && header.transactionId === generation.lastTransactionId ? 'seal' : 'none';
      if (header.kind !== KIND_PART && header.kind !== KIND_COMMIT) return 'none';
      if (header.transactionId !== generation.lastTransactionId + 1 || header.partNumber !== part) return 'none';
      const isLast = header.kind === KIND_COMMIT;
      const sum =
        isLast || proof === 'every-record' ? this.#readWhole(segment, at, generation) : this.#readNumbers(segment, at);
      if (sum === -1) return 'none';
      chain = sum;
      if (isLast) {
        this.#apply(generation, at, sum);
        return 'commit';
      }
      at += recordLength(header.pageCount, this.#pageSizeBytes);
    }
  }

  #readWhole(segment: GuardedFile, at: number, generation: Generation): number {
    const { pageCount } = this.#header;
    const trailer = trailerAt(pageCount, this.#pageSizeBytes);
    const whole = this.#read(segment, at, trailer + RECORD_TRAILER_BYTES);
    if (!whole) return -1;
    const { words } = this.buffer;
    // Checks the header again: between the two reads the writer may have cut this record off and begun another.
    if (
      !getRecordHeader(words, 0, generation.number, generation.salt, this.#header) ||
      this.#header.pageCount !== pageCount
    )
      return -1;
    const sum = verifiedChecksum(words, trailer, generation.salt);
    if (sum === -1) return -1;
    this.inBufferFrom = this.pageNumbers.length;
    this.#stage(at, pageNumbersAt(pageCount, this.#pageSizeBytes) / 4, pageCount);
    return sum;
  }

  #readNumbers(segment: GuardedFile, at: number): number {
    const { pageCount } = this.#header;
    const numbers = pageNumbersAt(pageCount, this.#pageSizeBytes);
    const trailer = trailerAt(pageCount, this.#pageSizeBytes);
    if (!this.#read(segment, at + numbers, trailer + RECORD_TRAILER_BYTES - numbers)) return -1;
    this.#stage(at, 0, pageCount);
    this.inBufferFrom = this.pageNumbers.length;
    return getTrailer(this.buffer.words, (trailer - numbers) / 4, trailer);
  }

  #read(segment: GuardedFile, at: number, length: number): boolean {
    if (this.buffer.bytes.length < length) this.buffer = wordBuffer(Math.max(length, 2 * this.buffer.bytes.length));
    return segment.read(this.buffer.bytes.subarray(0, length), at) === length;
  }

  #stage(recordAt: number, firstWord: number, pageCount: number): void {
    for (let index = 0; index < pageCount; index += 1) {
      this.pageNumbers.push(this.buffer.words[firstWord + index]!);
      this.#positions.push(recordAt + RECORD_HEADER_BYTES + index * this.#pageSizeBytes);
    }
  }

  #apply(generation: Generation, lastRecordAt: number, sum: number): void {
    for (let index = 0; index < this.pageNumbers.length; index += 1) {
      const page = this.pageNumbers[index]!;
      if (page !== 0) generation.positions.set(page, this.#positions[index]!);
    }
    resizeGeneration(generation, this.#header.sizeBytes, this.#pageSizeBytes);
    generation.end = lastRecordAt + recordLength(this.#header.pageCount, this.#pageSizeBytes);
    generation.lastTransactionId += 1;
    generation.lastChecksum = sum;
    generation.lastRecordAt = lastRecordAt;
  }
}
