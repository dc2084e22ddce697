import type { GuardedFile } from '../media/guarded-file.ts';
import type { TransactionPages } from '../pages/transaction-pages.ts';
import { generationFromHeader, resizeGeneration } from './generation.ts';
import type { Generation } from './generation.ts';
import {
  KIND_COMMIT,
  KIND_END,
  KIND_PART,
  KIND_SEAL,
  RECORD_HEADER_BYTES,
  emptyRecordHeader,
  pageNumbersAt,
  putRecordHeader,
  putTrailer,
  recordLength,
  trailerAt,
} from './record-format.ts';
import { FORMAT_VERSION, RECORDS_START, SEGMENT_HEADER_BYTES, writeSegmentHeader } from './segment-header.ts';
import type { SegmentHeader, SegmentState } from './segment-header.ts';
import { wordBuffer } from './words.ts';
import type { WordBuffer } from './words.ts';

/** Writing zeros takes a few milliseconds per megabyte, and the commit that needs them waits. */
const MAX_ZEROED_BYTES = 1024 * 1024;

/** One record of a transaction, ready to be written. */
interface CompleteRecord extends WordBuffer {
  readonly pageCount: number;
  /** Bytes that the record takes in its segment, without the end mark. */
  readonly length: number;
  readonly checksum: number;
}

/** Writes to the two segments. At every moment the appended bytes are either valid or invisible. */
export class LogWriter {
  readonly #segments: readonly [GuardedFile, GuardedFile];
  readonly #pageSizeBytes: number;
  readonly #growthBytes: number;
  readonly #header = emptyRecordHeader();
  readonly #mark = wordBuffer(RECORD_HEADER_BYTES);
  readonly #lengths: [number, number];
  /**
   * Segments with writes that may not be flushed. An existing segment is one of them, because its writer may have died
   * before it flushed what is now recovered.
   */
  readonly #dirty: [boolean, boolean];

  /**
   * A segment grows by `growthBytes` at a time and keeps its length, because overwriting costs a third as much as
   * appending.
   */
  constructor(segments: readonly [GuardedFile, GuardedFile], pageSizeBytes: number, growthBytes: number) {
    this.#segments = segments;
    this.#pageSizeBytes = pageSizeBytes;
    this.#growthBytes = growthBytes;
    this.#lengths = [segments[0].sizeBytes(), segments[1].sizeBytes()];
    this.#dirty = [this.#lengths[0] > 0, this.#lengths[1] > 0];
  }

  /**
   * Appends one transaction to `generation`, with one write per record, and flushes it if `isFlushed`. If it throws, it
   * has cut off the transaction again and `generation` is unchanged.
   */
  append(generation: Generation, pages: TransactionPages, sizeBytes: number, isFlushed: boolean): void {
    const { recordCount } = pages;
    const transactionId = generation.lastTransactionId + 1;
    const positions: number[] = [];
    let at = generation.end;
    let chain = generation.lastChecksum;
    let lastRecordAt = at;
    this.#dirty[generation.segment] = true;
    try {
      for (let part = 0; part < recordCount; part += 1) {
        const isLast = part === recordCount - 1;
        const record = this.#completeRecord(generation, pages, part, sizeBytes, chain);
        chain = record.checksum;
        let writeLength = record.length;
        if (isLast) {
          this.#fillHeader(generation, KIND_END, transactionId, sizeBytes, chain);
          putRecordHeader(record.words, record.length / 4, this.#header);
          writeLength += RECORD_HEADER_BYTES;
        }
        this.#writeRecord(generation.segment, record.bytes.subarray(0, writeLength), at, isFlushed);
        for (let index = 0; index < record.pageCount; index += 1)
          positions.push(at + RECORD_HEADER_BYTES + index * this.#pageSizeBytes);
        lastRecordAt = at;
        at += record.length;
      }
      if (isFlushed) this.flush();
    } catch (error) {
      this.cut(generation);
      throw error;
    }
    for (let slot = 0; slot < positions.length; slot += 1) {
      const page = pages.pageNumbers[slot]!;
      if (page !== 0) generation.positions.set(page, positions[slot]!);
    }
    resizeGeneration(generation, sizeBytes, this.#pageSizeBytes);
    generation.end = at;
    generation.lastTransactionId += 1;
    generation.lastChecksum = chain;
    generation.lastRecordAt = lastRecordAt;
  }

  /** Fills in the header, page numbers and trailer around the pages of one record. The end mark is not part of it. */
  #completeRecord(
    generation: Generation,
    pages: TransactionPages,
    part: number,
    sizeBytes: number,
    chain: number,
  ): CompleteRecord {
    const first = part * pages.pagesPerRecord;
    const pageCount = Math.min(pages.pagesPerRecord, pages.pageNumbers.length - first);
    const { bytes, words } = pages.records[part]!;
    const kind = part === pages.recordCount - 1 ? KIND_COMMIT : KIND_PART;
    this.#fillHeader(generation, kind, generation.lastTransactionId + 1, sizeBytes, chain);
    this.#header.pageCount = pageCount;
    this.#header.partNumber = part;
    putRecordHeader(words, 0, this.#header);
    const numbers = pageNumbersAt(pageCount, this.#pageSizeBytes) / 4;
    const trailer = trailerAt(pageCount, this.#pageSizeBytes);
    for (let index = 0; index < pageCount; index += 1) words[numbers + index] = pages.pageNumbers[first + index]!;
    words.fill(0, numbers + pageCount, trailer / 4);
    const checksum = putTrailer(words, trailer, generation.salt);
    const length = recordLength(pageCount, this.#pageSizeBytes);
    words.fill(0, trailer / 4 + 4, length / 4);
    return { bytes, words, pageCount, length, checksum };
  }

  #writeRecord(segment: number, bytes: Uint8Array, at: number, isFlushed: boolean): void {
    this.#reserve(segment, at + bytes.length, isFlushed);
    this.#segments[segment]!.write(bytes, at);
    this.#lengths[segment] = Math.max(this.#lengths[segment]!, at + bytes.length);
  }

  /**
   * Ensures that no bytes after the end of `generation` can be read as a record. The end mark overwrites existing
   * bytes, so it needs no quota. If the mark fails, the file is truncated; if that fails too, the checksum invalidates
   * a half-written record.
   */
  cut(generation: Generation): void {
    const segment = this.#segments[generation.segment]!;
    this.#dirty[generation.segment] = true;
    try {
      this.#writeMark(generation, KIND_END);
      segment.truncate(generation.end + RECORD_HEADER_BYTES);
      this.#lengths[generation.segment] = generation.end + RECORD_HEADER_BYTES;
    } catch {
      try {
        segment.truncate(generation.end);
        this.#lengths[generation.segment] = generation.end;
      } catch {
        // The medium accepts neither writes nor truncation. The caller already has the error.
      }
    }
  }

  /** Marks the end of a generation after which nothing follows yet. */
  markEnd(generation: Generation): void {
    this.#writeMark(generation, KIND_END);
  }

  /** Marks the end of a complete generation: the log continues in the other segment. */
  markSealed(generation: Generation): void {
    this.#writeMark(generation, KIND_SEAL);
  }

  /**
   * Begins a generation by writing its header and an end mark in one call. Nothing is flushed; until its first record
   * is flushed, the generation may be lost.
   */
  begin(
    header: Omit<SegmentHeader, 'formatVersion' | 'state' | 'pageSizeBytes'>,
    state: SegmentState = 'live',
  ): Generation {
    const generation = generationFromHeader({
      ...header,
      formatVersion: FORMAT_VERSION,
      state,
      pageSizeBytes: this.#pageSizeBytes,
    });
    const buffer = wordBuffer(RECORDS_START + RECORD_HEADER_BYTES);
    writeSegmentHeader(buffer, this.#headerOf(generation, state));
    this.#fillHeader(generation, KIND_END, generation.lastTransactionId, generation.sizeBytes, generation.lastChecksum);
    putRecordHeader(buffer.words, RECORDS_START / 4, this.#header);
    this.#dirty[generation.segment] = true;
    this.#segments[generation.segment]!.write(buffer.bytes, 0);
    this.#lengths[generation.segment] = Math.max(this.#lengths[generation.segment]!, buffer.bytes.length);
    return generation;
  }

  setState(generation: Generation, state: SegmentState): void {
    const buffer = wordBuffer(SEGMENT_HEADER_BYTES);
    writeSegmentHeader(buffer, this.#headerOf(generation, state));
    this.#dirty[generation.segment] = true;
    this.#segments[generation.segment]!.write(buffer.bytes, 0);
  }

  /** Truncates the segment after a huge transaction; its first bytes stay for reuse. */
  shrink(segment: number, sizeBytes: number): void {
    if (this.#lengths[segment]! <= sizeBytes) return;
    this.#segments[segment]!.truncate(sizeBytes);
    this.#lengths[segment] = sizeBytes;
  }

  get isDirty(): boolean {
    return this.#dirty[0] || this.#dirty[1];
  }

  /** Flushes both segments: a transaction is durable only if everything before it is. */
  flush(): void {
    this.flushSegment(0);
    this.flushSegment(1);
  }

  flushSegment(segment: number): void {
    if (!this.#dirty[segment]) return;
    this.#segments[segment]!.flush();
    this.#dirty[segment] = false;
  }

  #headerOf(generation: Generation, state: SegmentState): SegmentHeader {
    return {
      formatVersion: FORMAT_VERSION,
      generation: generation.number,
      salt: generation.salt,
      pageSizeBytes: this.#pageSizeBytes,
      state,
      baseTransactionId: generation.baseTransactionId,
      baseChecksum: generation.baseChecksum,
      baseSizeBytes: generation.baseSizeBytes,
      isFirst: generation.isFirst,
    };
  }

  #fillHeader(generation: Generation, kind: number, transactionId: number, sizeBytes: number, chain: number): void {
    const header = this.#header;
    header.kind = kind;
    header.generation = generation.number;
    header.salt = generation.salt;
    header.transactionId = transactionId;
    header.pageCount = 0;
    header.partNumber = 0;
    header.sizeBytes = sizeBytes;
    header.chain = chain;
  }

  #writeMark(generation: Generation, kind: number): void {
    this.#fillHeader(generation, kind, generation.lastTransactionId, generation.sizeBytes, generation.lastChecksum);
    putRecordHeader(this.#mark.words, 0, this.#header);
    this.#dirty[generation.segment] = true;
    this.#segments[generation.segment]!.write(this.#mark.bytes, generation.end);
  }

  /**
   * Grows a segment in large steps, because growing asks the browser's own process for quota. If every commit is
   * flushed, the new space is written as zeros, a megabyte at a time, so that the flushes need not write the file
   * system's journal too. Otherwise the new space is a hole.
   */
  #reserve(segment: number, neededBytes: number, isFlushed: boolean): void {
    const length = this.#lengths[segment]!;
    if (neededBytes <= length) return;
    const growthBytes = isFlushed ? Math.min(this.#growthBytes, MAX_ZEROED_BYTES) : this.#growthBytes;
    if (neededBytes - length >= growthBytes) return;
    try {
      if (isFlushed) this.#segments[segment]!.write(new Uint8Array(growthBytes), length);
      else this.#segments[segment]!.truncate(length + growthBytes);
      this.#lengths[segment] = length + growthBytes;
    } catch {
      // There is no space to grow ahead, but the record itself may still fit.
    }
  }
}
