import { checksum } from './checksum.ts';
import { getNumber, putNumber } from './words.ts';

/*
 * One transaction is one record (several for a huge one), written with one call:
 *
 *   header 64 B │ pages │ page numbers, 4 B each │ zeros to 16 │ trailer 16 B │ zeros to 512 │ end mark 64 B
 *
 * The numbers follow the pages, so that pages can be placed while SQLite still hands them out and their number is
 * unknown. Records start on a multiple of 512 B, so that bytes being written never share a sector with flushed bytes.
 * The end mark has the form of a header, and the next record overwrites it. A reader compares it with the mark that it
 * expects: if they are equal, nothing has been committed since.
 */

export const RECORD_HEADER_BYTES = 64;
const RECORD_HEADER_WORDS = RECORD_HEADER_BYTES / 4;
export const RECORD_TRAILER_BYTES = 16;
const RECORD_ALIGNMENT_BYTES = 512;

const HEADER_MAGIC = 0x524c5052; // "RPLR"
const TRAILER_MAGIC = 0x544c5052; // "RPLT"

/** Another record of the same transaction follows. */
export const KIND_PART = 1;
/** The last or only record of a transaction, which commits it. */
export const KIND_COMMIT = 2;
/** The generation is complete; the log continues in the other segment. */
export const KIND_SEAL = 3;
/** Nothing follows. */
export const KIND_END = 4;

/**
 * The fields of a record header. `chain` is the checksum of the record before, which ties each record to its whole
 * history.
 */
export interface RecordHeader {
  kind: number;
  generation: number;
  salt: number;
  transactionId: number;
  pageCount: number;
  partNumber: number;
  /** Size of the database after the transaction. */
  sizeBytes: number;
  chain: number;
}

export function emptyRecordHeader(): RecordHeader {
  return { kind: 0, generation: 0, salt: 0, transactionId: 0, pageCount: 0, partNumber: 0, sizeBytes: 0, chain: 0 };
}

export function putRecordHeader(words: Int32Array, at: number, header: RecordHeader): void {
  words[at] = HEADER_MAGIC;
  words[at + 1] = header.kind;
  words[at + 2] = header.generation;
  words[at + 3] = header.salt;
  putNumber(words, at + 4, header.transactionId);
  words[at + 6] = header.pageCount;
  words[at + 7] = header.partNumber;
  putNumber(words, at + 8, header.sizeBytes);
  putNumber(words, at + 10, header.chain);
  words[at + 12] = 0;
  words[at + 13] = 0;
  putNumber(words, at + 14, checksum(words, at, at + RECORD_HEADER_WORDS - 2, header.salt));
}

/** Fills `header` from the words at `at`. Returns false when they are not a header of this generation. */
export function getRecordHeader(
  words: Int32Array,
  at: number,
  generation: number,
  salt: number,
  header: RecordHeader,
): boolean {
  if (words[at] !== HEADER_MAGIC || words[at + 2] !== generation || words[at + 3] !== salt) return false;
  if (getNumber(words, at + 14) !== checksum(words, at, at + RECORD_HEADER_WORDS - 2, salt)) return false;
  header.kind = words[at + 1]!;
  header.generation = generation;
  header.salt = salt;
  header.transactionId = getNumber(words, at + 4);
  header.pageCount = words[at + 6]!;
  header.partNumber = words[at + 7]!;
  header.sizeBytes = getNumber(words, at + 8);
  header.chain = getNumber(words, at + 10);
  return true;
}

/** The offset of the page numbers from the start of the record. */
export function pageNumbersAt(pageCount: number, pageSizeBytes: number): number {
  return RECORD_HEADER_BYTES + pageCount * pageSizeBytes;
}

/** Offset of the trailer from the start of the record. The checksum covers everything before it. */
export function trailerAt(pageCount: number, pageSizeBytes: number): number {
  return pageNumbersAt(pageCount, pageSizeBytes) + alignUp(pageCount * 4, 16);
}

/** Length of a record in its segment, in bytes. */
export function recordLength(pageCount: number, pageSizeBytes: number): number {
  return alignUp(trailerAt(pageCount, pageSizeBytes) + RECORD_TRAILER_BYTES, RECORD_ALIGNMENT_BYTES);
}

/** Writes the trailer of a record with its header, pages and page numbers in place. Returns the checksum. */
export function putTrailer(words: Int32Array, trailerBytes: number, salt: number): number {
  const at = trailerBytes / 4;
  const sum = checksum(words, 0, at, salt);
  words[at] = TRAILER_MAGIC;
  words[at + 1] = trailerBytes;
  putNumber(words, at + 2, sum);
  return sum;
}

/** Returns the checksum that the trailer contains, or -1 when there is no trailer. */
export function getTrailer(words: Int32Array, at: number, trailerBytes: number): number {
  if (words[at] !== TRAILER_MAGIC || words[at + 1] !== trailerBytes) return -1;
  return getNumber(words, at + 2);
}

/** Verifies a whole record at the start of `words`. Returns its checksum, or -1 when it is torn. */
export function verifiedChecksum(words: Int32Array, trailerBytes: number, salt: number): number {
  const claimed = getTrailer(words, trailerBytes / 4, trailerBytes);
  return claimed !== -1 && claimed === checksum(words, 0, trailerBytes / 4, salt) ? claimed : -1;
}

function alignUp(value: number, alignment: number): number {
  return Math.ceil(value / alignment) * alignment;
}
