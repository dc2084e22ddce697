import type { GuardedFile } from '../media/guarded-file.ts';
import { StorageError } from '../storage-error.ts';
import { checksum } from './checksum.ts';
import { getNumber, putNumber, wordBuffer } from './words.ts';
import type { WordBuffer } from './words.ts';

/** The header fits in one sector, so that a power cut leaves either the old or the new one. */
export const SEGMENT_HEADER_BYTES = 64;
/** Records start on a separate page, so that no record shares a sector with the header. */
export const RECORDS_START = 4096;

const MAGIC = 0x474c5052; // "RPLG"
export const FORMAT_VERSION = 1;

/**
 * - `live`: the generation's records count.
 * - `copying`: they count, and are being copied into the database file. Readers with a snapshot that ends here must
 *   stop.
 * - `done`: the database file holds all of them; the segment may be reused.
 * - `importing`: there are no records. The staged import replaces the database file, and every writer that opens
 *   continues that copy.
 */
export type SegmentState = 'live' | 'copying' | 'done' | 'importing';
const STATES: readonly SegmentState[] = ['live', 'copying', 'done', 'importing'];

/**
 * The header of a **generation**, which is the content of one segment between two swaps. Generation g is in segment g
 * mod 2 and continues where generation g − 1 ended: its base is the last transaction of that generation.
 */
export interface SegmentHeader {
  readonly generation: number;
  /** Random, so that no record from an earlier use of the segment can pass for one of this generation. */
  readonly salt: number;
  readonly pageSizeBytes: number;
  readonly state: SegmentState;
  readonly baseTransactionId: number;
  readonly baseChecksum: number;
  /** Size of the database at the base. */
  readonly baseSizeBytes: number;
  /** Whether the base is the database file as it was found; earlier generations then no longer count. */
  readonly isFirst: boolean;
  readonly formatVersion: number;
}

export function writeSegmentHeader(buffer: WordBuffer, header: SegmentHeader): void {
  const { words } = buffer;
  words.fill(0, 0, SEGMENT_HEADER_BYTES / 4);
  words[0] = MAGIC;
  words[1] = header.formatVersion;
  words[2] = header.generation;
  words[3] = header.salt;
  words[4] = header.pageSizeBytes;
  words[5] = STATES.indexOf(header.state) + 1;
  putNumber(words, 6, header.baseTransactionId);
  putNumber(words, 8, header.baseChecksum);
  putNumber(words, 10, header.baseSizeBytes);
  words[12] = header.isFirst ? 1 : 0;
  putNumber(words, 14, checksum(words, 0, 14, MAGIC));
}

const scratch = wordBuffer(SEGMENT_HEADER_BYTES);

/**
 * Returns `undefined` when the segment has no valid header: it is new or was invalidated. Throws `storage-newer` for a
 * newer format.
 */
export function readSegmentHeader(segment: GuardedFile): SegmentHeader | undefined {
  const { words, bytes } = scratch;
  segment.readOrZeros(bytes, 0);
  if (words[0] !== MAGIC || getNumber(words, 14) !== checksum(words, 0, 14, MAGIC)) return undefined;
  const formatVersion = words[1]!;
  // Checked first, because a newer format may have states that are unknown here.
  if (formatVersion > FORMAT_VERSION)
    throw new StorageError('storage-newer', { logFormat: formatVersion, supported: FORMAT_VERSION });
  const state = STATES[words[5]! - 1];
  if (state === undefined) return undefined;
  return {
    formatVersion,
    generation: words[2]!,
    salt: words[3]!,
    pageSizeBytes: words[4]!,
    state,
    baseTransactionId: getNumber(words, 6),
    baseChecksum: getNumber(words, 8),
    baseSizeBytes: getNumber(words, 10),
    isFirst: words[12] === 1,
  };
}
