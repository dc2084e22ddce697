import { StorageError } from '../storage-error.ts';

/** Bytes that changed, and where they stand in the database. */
export interface Patch {
  readonly at: number;
  readonly bytes: Uint8Array;
}

/** What is equal between two changes goes along when it is shorter than this: a patch costs 8 bytes of its own, and looking costs time. */
const BLOCK_WORDS = 32;
const PATCH_HEADER_BYTES = 8;

/** Where two extents of the same length differ, in blocks of 128 bytes, neighbours together. The bytes are copies of the newer one. */
export function differences(older: Uint8Array, newer: Uint8Array, extentAt: number): Patch[] {
  const oldWords = wordsOf(older);
  const newWords = wordsOf(newer);
  const patches: Patch[] = [];
  let start = -1;
  const end = (word: number): void => {
    if (start !== -1) patches.push({ at: extentAt + start * 4, bytes: newer.slice(start * 4, word * 4) });
    start = -1;
  };
  for (let block = 0; block < newWords.length; block += BLOCK_WORDS) {
    if (isBlockEqual(oldWords, newWords, block)) end(block);
    else if (start === -1) start = block;
  }
  end(newWords.length);
  return patches;
}

function isBlockEqual(one: Int32Array, other: Int32Array, from: number): boolean {
  for (let word = from; word < from + BLOCK_WORDS; word += 1) if (one[word] !== other[word]) return false;
  return true;
}

function wordsOf(bytes: Uint8Array): Int32Array {
  return new Int32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 4);
}

export function patchBytes(patches: readonly Patch[]): number {
  return patches.reduce((total, { bytes }) => total + PATCH_HEADER_BYTES + bytes.length, 0);
}

/** Patches as one run of bytes: of each its place and length, 32 bits little-endian, then its bytes. */
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

/** Throws `storage-corrupt` for what `encodePatches` did not make. */
export function decodePatches(encoded: Uint8Array): Patch[] {
  const view = new DataView(encoded.buffer, encoded.byteOffset, encoded.byteLength);
  const patches: Patch[] = [];
  let offset = 0;
  while (offset < encoded.length) {
    const length = offset + PATCH_HEADER_BYTES <= encoded.length ? view.getUint32(offset + 4, true) : Infinity;
    const end = offset + PATCH_HEADER_BYTES + length;
    if (end > encoded.length) throw new StorageError('storage-corrupt', { what: 'patches of the database' });
    patches.push({ at: view.getUint32(offset, true), bytes: encoded.subarray(offset + PATCH_HEADER_BYTES, end) });
    offset = end;
  }
  return patches;
}
