import { RECORD_HEADER_BYTES, RECORD_TRAILER_BYTES } from '../log/record-format.ts';
import { wordBuffer } from '../log/words.ts';
import type { WordBuffer } from '../log/words.ts';

/** Space after the trailer: up to 512 bytes of alignment and the end mark. */
const TAIL_ROOM_BYTES = 1024;

/**
 * The pages that the open transaction has written, whether SQLite sent them as one atomic batch or one by one because
 * its cache overflowed. They are placed where their log record needs them, so that a commit copies nothing. Until the
 * commit, they are invisible to others.
 */
export class TransactionPages {
  readonly pageSizeBytes: number;
  readonly pagesPerRecord: number;
  /** One buffer per record. */
  readonly records: WordBuffer[] = [];
  /** Slot → page number; 0 for a page that was truncated. */
  readonly pageNumbers: number[] = [];
  /** The number of slots that the last call of `slotsFor` returned. */
  runLength = 0;
  readonly #slots = new Map<number, number>();
  readonly #recordBytes: number;

  /** `recordSizeBytes` is about the size of one record; larger transactions take several. */
  constructor(pageSizeBytes: number, recordSizeBytes: number) {
    this.pageSizeBytes = pageSizeBytes;
    this.pagesPerRecord = Math.max(1, Math.floor(recordSizeBytes / (pageSizeBytes + 4)));
    this.#recordBytes =
      RECORD_HEADER_BYTES + this.pagesPerRecord * (pageSizeBytes + 4) + 16 + RECORD_TRAILER_BYTES + TAIL_ROOM_BYTES;
  }

  get isEmpty(): boolean {
    return this.pageNumbers.length === 0;
  }

  get recordCount(): number {
    return Math.ceil(this.pageNumbers.length / this.pagesPerRecord);
  }

  /** Returns -1 when this transaction has not written the page. */
  slotOf(page: number): number {
    return this.#slots.get(page) ?? -1;
  }

  bytesOf(slot: number): Uint8Array {
    return this.records[Math.floor(slot / this.pagesPerRecord)]!.bytes;
  }

  /** Offset of the slot's page within `bytesOf(slot)`. */
  offsetOf(slot: number): number {
    return RECORD_HEADER_BYTES + (slot % this.pagesPerRecord) * this.pageSizeBytes;
  }

  /** Returns the page's slot, or a new one. The caller fills all of it. */
  slotFor(page: number): number {
    return this.#slots.get(page) ?? this.#add(page);
  }

  /**
   * Like `slotFor`, for up to `most` adjacent pages, as long as their slots are adjacent in one record. `runLength` is
   * then their number.
   */
  slotsFor(page: number, most: number): number {
    const known = this.#slots.get(page);
    const first = known ?? this.#add(page);
    const longest = Math.min(most, this.pagesPerRecord - (first % this.pagesPerRecord));
    let count = 1;
    while (count < longest) {
      if (known !== undefined && this.pageNumbers[first + count] !== page + count) break;
      if (known === undefined && this.#slots.has(page + count)) break;
      if (known === undefined) this.#add(page + count);
      count += 1;
    }
    this.runLength = count;
    return first;
  }

  cutBeyond(pageCount: number): void {
    for (const [page, slot] of this.#slots) {
      if (page <= pageCount) continue;
      this.#slots.delete(page);
      this.pageNumbers[slot] = 0;
    }
  }

  clear(): void {
    this.#slots.clear();
    this.pageNumbers.length = 0;
    // Keeps one buffer for the next transaction and frees those of a huge one.
    this.records.length = Math.min(this.records.length, 1);
  }

  #add(page: number): number {
    const slot = this.pageNumbers.length;
    this.pageNumbers.push(page);
    this.#slots.set(page, slot);
    if (slot >= this.records.length * this.pagesPerRecord) this.records.push(wordBuffer(this.#recordBytes));
    return slot;
  }
}
