import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodePatches, differences, encodePatches, patchBytes } from './patch.ts';

const EXTENT_BYTES = 65536;

describe('patches', () => {
  it('turn the older extent into the newer one, even after encoding, and contain little more than the changes', () => {
    const change = fc.record({ at: fc.nat(EXTENT_BYTES - 1), value: fc.nat(255) });
    fc.assert(
      fc.property(fc.array(change, { maxLength: 20 }), fc.nat(1000), (changes, extent) => {
        const older = new Uint8Array(EXTENT_BYTES).fill(7);
        const newer = older.slice();
        for (const { at, value } of changes) newer[at] = value;
        const patches = differences(older, newer, extent * EXTENT_BYTES, [0, EXTENT_BYTES]);
        expect(patchBytes(patches)).toBeLessThanOrEqual(changes.length * (128 + 8));
        for (const { at, bytes } of decodePatches(encodePatches(patches))) older.set(bytes, at - extent * EXTENT_BYTES);
        expect(older).toEqual(newer);
      }),
      { numRuns: 50 },
    );
  });

  it('are found where bytes were written, whatever the adjacent bytes are', () => {
    const older = new Uint8Array(EXTENT_BYTES);
    const newer = older.slice();
    newer.fill(1, 8192, 8200).fill(2, 40_000, 40_010);
    const patches = differences(older, newer, 0, [8190, 8200, 40_000, 40_010]);
    for (const { at, bytes } of patches) older.set(bytes, at);
    expect(older).toEqual(newer);
  });

  it('are rejected when they are truncated', () => {
    const encoded = encodePatches([{ at: 5, bytes: new Uint8Array(100) }]);
    for (const length of [1, 7, 8, 107]) {
      expect(() => decodePatches(encoded.subarray(0, length))).toThrow(
        expect.objectContaining({ code: 'storage-corrupt' }),
      );
    }
  });
});
