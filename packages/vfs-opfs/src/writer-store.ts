import type { DatabaseStore, PieceComparer } from './database-store.ts';
import type { LogWriter } from './log/log-writer.ts';
import type { PageView } from './pages/page-view.ts';
import { TransactionPages } from './pages/transaction-pages.ts';

/**
 * What a transaction writes beyond this is logged whole. Comparing saves most for a page with one new row, and larger
 * transactions fill their pages.
 */
const MAX_COMPARED_BYTES = 128 * 1024;

/** As many as the result of a comparison has bits. */
const MAX_COMPARED_PAGES = 32;

/** The writer's database: the view of the last commit, with the pages of the open transaction over it. */
export class WriterStore implements DatabaseStore {
  readonly isReadOnly = false;
  readonly pageSizeBytes: number;

  readonly #view: PageView;
  readonly #log: LogWriter;
  readonly #pages: TransactionPages;
  readonly #isStrict: boolean;
  readonly #onCommit: () => void;
  /** Size of the database within the open transaction; -1 when the transaction has written nothing. */
  #openSizeBytes = -1;
  /** How much of the open transaction was compared with the last commit. */
  #comparedBytes = 0;

  constructor(
    view: PageView,
    log: LogWriter,
    recordSizeBytes: number,
    newPageSizeBytes: number,
    isStrict: boolean,
    onCommit: () => void,
  ) {
    this.#view = view;
    this.#log = log;
    this.pageSizeBytes = newPageSizeBytes;
    this.#pages = new TransactionPages(view.pageSizeBytes, recordSizeBytes);
    this.#isStrict = isStrict;
    this.#onCommit = onCommit;
  }

  // As the only writer, it always sees the latest commit.
  beginRead(): void {}
  endRead(): void {}

  sizeBytes(): number {
    return this.#openSizeBytes === -1 ? this.#view.sizeBytes : this.#openSizeBytes;
  }

  read(heap: Uint8Array, target: number, length: number, at: number): number {
    const count = Math.min(length, this.sizeBytes() - at);
    if (count <= 0) return 0;
    if (this.#pages.isEmpty) this.#readCommitted(heap, target, count, at);
    else this.#readOpen(heap, target, count, at);
    return count;
  }

  /** SQLite writes whole pages; a small transaction logs only the pieces that differ from the last commit. */
  write(heap: Uint8Array, source: number, length: number, at: number, comparer?: PieceComparer): void {
    const pageSize = this.#view.pageSizeBytes;
    for (let done = 0; done < length;) {
      const offset = (at + done) % pageSize;
      const page = (at + done - offset) / pageSize + 1;
      const wholePages = offset === 0 ? Math.floor((length - done) / pageSize) : 0;
      const comparable = comparer === undefined ? 0 : this.#comparablePages(page, wholePages, comparer);
      if (comparable > 0) done += this.#writeChanged(heap, source + done, page, comparable, comparer!);
      else if (wholePages > 0) done += this.#writeWhole(heap, source + done, page, wholePages);
      else done += this.#writePart(heap, source + done, length - done, page, offset);
    }
    this.#openSizeBytes = Math.max(this.sizeBytes(), at + length);
  }

  truncate(sizeBytes: number): void {
    if (sizeBytes < this.sizeBytes()) this.#pages.cutBeyond(Math.ceil(sizeBytes / this.#view.pageSizeBytes));
    this.#openSizeBytes = sizeBytes;
  }

  commit(): void {
    if (this.#openSizeBytes === -1) return;
    const sizeBytes = this.#openSizeBytes;
    const isShrinking = sizeBytes < this.#view.sizeBytes;
    // A transaction that only truncates the database needs a record too. A record has at least one page, so it carries
    // the first page.
    if (this.#pages.isEmpty) {
      if (!isShrinking && sizeBytes === this.#view.sizeBytes) return this.rollback();
      this.#readPadded(this.#pages.bytesOf(this.#pages.slotFor(1)), this.#pages.offsetOf(0), 0);
    }
    try {
      this.#log.append(this.#view.active, this.#pages, sizeBytes, this.#isStrict);
      if (isShrinking) this.#view.pool.dropBeyond(sizeBytes);
      this.#publish();
    } finally {
      this.rollback();
    }
    this.#onCommit();
  }

  rollback(): void {
    this.#openSizeBytes = -1;
    this.#comparedBytes = 0;
    if (!this.#pages.isEmpty) this.#pages.clear();
  }

  /** How many of `most` pages from `page` on are compared, with one call, before they are written. */
  #comparablePages(page: number, most: number, { roomBytes }: PieceComparer): number {
    if (this.#comparedBytes >= MAX_COMPARED_BYTES) return 0;
    const { pageSizeBytes, sizeBytes } = this.#view;
    const committed = Math.floor(sizeBytes / pageSizeBytes) - (page - 1);
    return Math.min(most, committed, MAX_COMPARED_PAGES, Math.floor(roomBytes / pageSizeBytes));
  }

  /** Writes those of `count` pages that differ from the last commit. Returns the size of all `count` pages. */
  #writeChanged(heap: Uint8Array, source: number, page: number, count: number, comparer: PieceComparer): number {
    const { pageSizeBytes } = this.#view;
    const length = count * pageSizeBytes;
    this.#view.read(heap, comparer.room, length, (page - 1) * pageSizeBytes);
    const changed = comparer.changedPieces(source, pageSizeBytes, count);
    this.#comparedBytes += length;
    // The transaction may have written a page before, with different content.
    const isWritten = (index: number): boolean =>
      (changed & (1 << index)) !== 0 || this.#pages.slotOf(page + index) !== -1;
    for (let index = 0; index < count;) {
      let run = 0;
      while (index + run < count && isWritten(index + run)) run += 1;
      if (run === 0) index += 1;
      else index += this.#writeWhole(heap, source + index * pageSizeBytes, page + index, run) / pageSizeBytes;
    }
    return length;
  }

  /**
   * Copies whole pages with one call if their slots are adjacent in the record. Returns the number of bytes copied.
   */
  #writeWhole(heap: Uint8Array, source: number, page: number, most: number): number {
    const slot = this.#pages.slotsFor(page, most);
    const length = this.#pages.runLength * this.#view.pageSizeBytes;
    this.#pages.bytesOf(slot).set(heap.subarray(source, source + length), this.#pages.offsetOf(slot));
    return length;
  }

  /** Needed if SQLite's pages are smaller than the log's. */
  #writePart(heap: Uint8Array, source: number, most: number, page: number, offset: number): number {
    const pageSize = this.#view.pageSizeBytes;
    const length = Math.min(most, pageSize - offset);
    const isNew = this.#pages.slotOf(page) === -1;
    const slot = this.#pages.slotFor(page);
    const bytes = this.#pages.bytesOf(slot);
    const start = this.#pages.offsetOf(slot);
    if (isNew) this.#readPadded(bytes, start, (page - 1) * pageSize);
    bytes.set(heap.subarray(source, source + length), start + offset);
    return length;
  }

  #publish(): void {
    const { pageNumbers, pageSizeBytes } = this.#pages;
    for (let slot = 0; slot < pageNumbers.length; slot += 1) {
      const page = pageNumbers[slot]!;
      if (page !== 0)
        this.#view.pool.patch(
          this.#pages.bytesOf(slot),
          this.#pages.offsetOf(slot),
          (page - 1) * pageSizeBytes,
          pageSizeBytes,
        );
    }
  }

  #readOpen(heap: Uint8Array, target: number, length: number, at: number): void {
    const pageSize = this.#view.pageSizeBytes;
    for (let done = 0; done < length;) {
      const offset = (at + done) % pageSize;
      const count = Math.min(length - done, pageSize - offset);
      const slot = this.#pages.slotOf(Math.floor((at + done) / pageSize) + 1);
      if (slot === -1) {
        this.#readCommitted(heap, target + done, count, at + done);
      } else {
        const start = this.#pages.offsetOf(slot) + offset;
        heap.set(this.#pages.bytesOf(slot).subarray(start, start + count), target + done);
      }
      done += count;
    }
  }

  /** Reads the last commit; zeros beyond its end. */
  #readCommitted(heap: Uint8Array, target: number, length: number, at: number): void {
    const count = Math.max(0, Math.min(length, this.#view.sizeBytes - at));
    if (count > 0) this.#view.read(heap, target, count, at);
    if (count < length) heap.fill(0, target + count, target + length);
  }

  #readPadded(into: Uint8Array, target: number, at: number): void {
    this.#readCommitted(into, target, this.#view.pageSizeBytes, at);
  }
}
