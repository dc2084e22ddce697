import { StorageError } from '../storage-error.ts';

/** Changed bytes and their offset in the database. */
export interface Patch {
  readonly at: number;
  readonly bytes: Uint8Array;
}

/**
 * The granularity of the comparison. Shorter runs of equal bytes between two changes are included, because each patch
 * costs 8 extra bytes, and finer comparison costs time.
 */
const BLOCK_BYTES = 128;
const PATCH_HEADER_BYTES = 8;

/**
 * Returns the differences between two extents of the same length, in blocks of 128 bytes, adjacent blocks joined. The
 * bytes are copies from the newer extent. Compares only `ranges`, a flat list of starts and ends; the extents are equal
 * elsewhere.
 */
export function differences(
  older: Uint8Array,
  newer: Uint8Array,
  extentAt: number,
  ranges: readonly number[],
): Patch[] {
  const oldWords = wordsOf(older);
  const newWords = wordsOf(newer);
  const patches: Patch[] = [];
  for (let index = 0; index < ranges.length; index += 2) {
    let start = -1;
    const first = ranges[index]! - (ranges[index]! % BLOCK_BYTES);
    const end = Math.ceil(ranges[index + 1]! / BLOCK_BYTES) * BLOCK_BYTES;
    for (let at = first; at <= end; at += BLOCK_BYTES) {
      const isChanged = at < end && !isBlockEqual(oldWords, newWords, at / 4);
      if (isChanged && start === -1) start = at;
      if (isChanged || start === -1) continue;
      patches.push({ at: extentAt + start, bytes: newer.slice(start, at) });
      start = -1;
    }
  }
  return patches;
}

/** Compares four words per step, because most blocks are equal and are compared to the end. */
function isBlockEqual(one: Int32Array, other: Int32Array, from: number): boolean {
  for (let word = from; word < from + BLOCK_BYTES / 4; word += 4) {
    const difference =
      (one[word]! ^ other[word]!) |
      (one[word + 1]! ^ other[word + 1]!) |
      (one[word + 2]! ^ other[word + 2]!) |
      (one[word + 3]! ^ other[word + 3]!);
    if (difference !== 0) return false;
  }
  return true;
}

function wordsOf(bytes: Uint8Array): Int32Array {
  return new Int32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 4);
}

export function patchBytes(patches: readonly Patch[]): number {
  return patches.reduce((total, { bytes }) => total + PATCH_HEADER_BYTES + bytes.length, 0);
}

/** Encodes each patch as its offset and its length, 32 bits little-endian each, followed by its bytes. */
export function encodePatches(patches: readonly Patch[]): Uint8Array {
  const encoded = new Uint8Array(patchBytes(patches));
  const view = new DataView(encoded.buffer);
  let offset = 0;
  for (const { at, bytes } of patches) {
    view.setUint32(offset, at, true);
    view.setUint32(offset + 4, bytes.length, true);
    encoded.set(bytes, offset + PATCH_HEADER_BYTES);
    offset += PATCH_HEADER_BYTES + bytes.length;
  }
  return encoded;
}

/** Throws `storage-corrupt` when the bytes do not decode. */
export function decodePatches(encoded: Uint8Array): Patch[] {
  const view = new DataView(encoded.buffer, encoded.byteOffset, encoded.byteLength);
  const patches: Patch[] = [];
  let offset = 0;
  while (offset < encoded.length) {
    const length = offset + PATCH_HEADER_BYTES <= encoded.length ? view.getUint32(offset + 4, true) : Infinity;
    const end = offset + PATCH_HEADER_BYTES + length;
    if (end > encoded.length) throw new StorageError('storage-corrupt', { what: 'a patch cannot be decoded' });
    patches.push({ at: view.getUint32(offset, true), bytes: encoded.subarray(offset + PATCH_HEADER_BYTES, end) });
    offset = end;
  }
  return patches;
}
