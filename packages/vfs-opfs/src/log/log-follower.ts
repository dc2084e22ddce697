import type { GuardedFile } from '../media/guarded-file.ts';
import type { PageView } from '../pages/page-view.ts';
import { StorageError } from '../storage-error.ts';
import { generationFromHeader } from './generation.ts';
import {
  KIND_END,
  RECORD_HEADER_BYTES,
  emptyRecordHeader,
  RECORD_TRAILER_BYTES,
  getRecordHeader,
  getTrailer,
  putRecordHeader,
  trailerAt,
} from './record-format.ts';
import { RecordReader } from './record-reader.ts';
import { readSegmentHeader } from './segment-header.ts';
import type { SegmentHeader } from './segment-header.ts';
import { wordBuffer } from './words.ts';

/**
 * Follows the log of a live writer.
 *
 * Invariants
 * 1. `advance` ends at the latest commit: it stops only at the end mark that the writer put after its last record, or
 *    at a record that is being written, whose commit has not returned.
 * 2. Between two advances the view is one snapshot. Two events could change it: a WAL checkpoint of the generation in
 *    which it ends, and the reuse of the sealed generation's segment. The snapshot lock holds off the first. `check`
 *    detects both after every read from a file, so that even a reader without its lock never returns a wrong page.
 */
export class LogFollower {
  readonly #view: PageView;
  readonly #reader: RecordReader;
  readonly #probe = wordBuffer(RECORD_HEADER_BYTES);
  readonly #expectedEnd = wordBuffer(RECORD_HEADER_BYTES);
  readonly #header = emptyRecordHeader();

  constructor(view: PageView) {
    this.#view = view;
    this.#reader = new RecordReader(view.pageSizeBytes);
    view.check = (usedSealed) => this.#check(usedSealed);
    this.#expectEnd();
  }

  /**
   * Moves the view to the latest commit. Returns `lost` when the log has been rewritten; the view must then be rebuilt.
   */
  advance(): 'current' | 'lost' {
    for (;;) {
      const { active, files } = this.#view;
      const segment = files.segments[active.segment]!;
      const count = segment.read(this.#probe.bytes, active.end);
      if (count === RECORD_HEADER_BYTES && this.#isExpectedEnd()) return 'current';
      const sizeBefore = active.sizeBytes;
      const found = this.#reader.readTransaction(segment, active, 'last-record');
      if (found === 'commit') this.#updatePool(sizeBefore);
      else if (found === 'seal') {
        if (!this.#switchSegment()) return 'lost';
      } else return this.#isPositionValid() ? 'current' : 'lost';
    }
  }

  #expectEnd(): void {
    const { active } = this.#view;
    const header = this.#header;
    header.kind = KIND_END;
    header.generation = active.number;
    header.salt = active.salt;
    header.transactionId = active.lastTransactionId;
    header.pageCount = 0;
    header.partNumber = 0;
    header.sizeBytes = active.sizeBytes;
    header.chain = active.lastChecksum;
    putRecordHeader(this.#expectedEnd.words, 0, header);
  }

  #isExpectedEnd(): boolean {
    const probe = this.#probe.words;
    const expected = this.#expectedEnd.words;
    // The last two words are the checksum of the others.
    if (probe[14] !== expected[14]) return false;
    for (let index = 0; index < probe.length; index += 1) if (probe[index] !== expected[index]) return false;
    return true;
  }

  /**
   * Applies the transaction that was just read to the pool: patches extents whose bytes are available, and drops the
   * others.
   */
  #updatePool(sizeBefore: number): void {
    const { pool, pageSizeBytes, active } = this.#view;
    const { pageNumbers, inBufferFrom, buffer } = this.#reader;
    for (let index = 0; index < pageNumbers.length; index += 1) {
      const page = pageNumbers[index]!;
      if (page === 0) continue;
      const at = (page - 1) * pageSizeBytes;
      if (index >= inBufferFrom) pool.patch(buffer.bytes, this.#reader.pageInBuffer(index), at, pageSizeBytes);
      else pool.dropAt(at);
    }
    if (active.sizeBytes < sizeBefore) pool.dropBeyond(active.sizeBytes);
    this.#expectEnd();
  }

  #switchSegment(): boolean {
    const { active, files } = this.#view;
    const header = readSettledHeader(files.segments[1 - active.segment]!);
    if (header === undefined || header.generation !== active.number + 1) return false;
    if (header.baseTransactionId !== active.lastTransactionId || header.baseChecksum !== active.lastChecksum)
      return false;
    this.#view.sealed = active;
    this.#view.active = generationFromHeader(header);
    this.#expectEnd();
    return true;
  }

  /**
   * Called when neither an end mark nor a record follows: either one is being written right now, or the log was
   * rewritten from before our position.
   */
  #isPositionValid(): boolean {
    const { active, files } = this.#view;
    const segment = files.segments[active.segment]!;
    const header = readSettledHeader(segment);
    if (
      header === undefined ||
      header.generation !== active.number ||
      header.salt !== active.salt ||
      header.state !== 'live'
    )
      return false;
    if (active.lastRecordAt === 0) return true;
    // The last record that was read must be unchanged: a write that failed as a whole is truncated, and its space is
    // reused.
    segment.readOrZeros(this.#probe.bytes, active.lastRecordAt);
    if (!getRecordHeader(this.#probe.words, 0, active.number, active.salt, this.#header)) return false;
    const trailer = trailerAt(this.#header.pageCount, this.#view.pageSizeBytes);
    segment.readOrZeros(this.#probe.bytes.subarray(0, RECORD_TRAILER_BYTES), active.lastRecordAt + trailer);
    return getTrailer(this.#probe.words, 0, trailer) === active.lastChecksum;
  }

  #check(usedSealed: boolean): 'good' | 'again' {
    const { active, sealed, files } = this.#view;
    const own = readSettledHeader(files.segments[active.segment]!);
    if (own === undefined || own.generation !== active.number || own.salt !== active.salt || own.state !== 'live') {
      throw new StorageError('storage-snapshot-lost', { generation: active.number });
    }
    if (!usedSealed || sealed === undefined) return 'good';
    const other = readSettledHeader(files.segments[sealed.segment]!);
    if (other === undefined) throw new StorageError('storage-snapshot-lost', { generation: sealed.number });
    if (other.generation === sealed.number && other.salt === sealed.salt) return 'good';
    // The sealed segment was reused, so the database file has all of its pages, which must be read from there.
    this.#view.sealed = undefined;
    return 'again';
  }
}

/**
 * A header may be read while it is being written, but that is unlikely to happen twice in a row. A few attempts
 * separate that case from damage.
 */
function readSettledHeader(segment: GuardedFile): SegmentHeader | undefined {
  for (let attempt = 0; attempt < 10; attempt += 1) {
    const header = readSegmentHeader(segment);
    if (header !== undefined) return header;
  }
  return undefined;
}
