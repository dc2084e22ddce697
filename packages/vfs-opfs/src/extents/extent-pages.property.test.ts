import { describe, expect, it } from 'vitest';
import { EXTENT_BYTES } from '../pages/extent-pool.ts';
import { seededRandom } from '../../testing/crash-images.ts';
import type { Patch } from './patch.ts';
import { ExtentPages, type ExtentSnapshot } from './extent-pages.ts';

/** The step does not divide the extent size, so that writes cross the edges of extents. */
const STEP_BYTES = 9_973;
const MAX_BYTES = 6 * EXTENT_BYTES;
const EXTENT_SIZES = [EXTENT_BYTES, EXTENT_BYTES / 8, EXTENT_BYTES * 2];

/** Truncates a file, or extends it with zeros. */
function resized(bytes: Uint8Array, sizeBytes: number): Uint8Array {
  const next = new Uint8Array(sizeBytes);
  next.set(bytes.subarray(0, sizeBytes));
  return next;
}

function contentOf(pages: ExtentPages): Uint8Array {
  const bytes = new Uint8Array(pages.sizeBytes);
  expect(pages.read(bytes, 0, bytes.length + 10, 0)).toBe(bytes.length);
  return bytes;
}

function reading(snapshot: ExtentSnapshot): () => Uint8Array {
  return () => {
    const bytes = new Uint8Array(snapshot.sizeBytes);
    snapshot.read(bytes, 0, bytes.length, 0);
    return bytes;
  };
}

function isSame(one: Uint8Array, other: Uint8Array): boolean {
  if (one.length !== other.length) return false;
  // Hundreds of megabytes are compared: a loop takes a fifth of the time of `every`.
  for (let index = 0; index < one.length; index += 1) if (one[index] !== other[index]) return false;
  return true;
}

describe('pages in extents', () => {
  for (let seed = 1; seed <= 12; seed += 1) {
    it(`equal a plain file under any writes, truncations, commits and rollbacks, as do their batches combined, with seed ${seed}`, () => {
      const random = seededRandom(seed);
      const below = (limit: number): number => Math.floor(random() * limit);
      const pages = new ExtentPages(Infinity);
      const extentBytes = EXTENT_SIZES[seed % EXTENT_SIZES.length]!;
      pages.replace({ sizeBytes: 0, extentBytes, extents: new Map(), patches: [] });
      let committed: Uint8Array = new Uint8Array(0);
      let open = committed;
      const snapshots: { readonly read: () => Uint8Array; readonly content: Uint8Array }[] = [];
      const stored = { sizeBytes: 0, extentBytes, extents: new Map<number, Uint8Array>(), patches: [] as Patch[] };
      for (let step = 0; step < 150; step += 1) {
        const action = below(10);
        if (action < 5) {
          const from = new Uint8Array(1 + below(STEP_BYTES)).fill(1 + below(255));
          const at = below(MAX_BYTES);
          open = resized(open, Math.max(open.length, at + from.length));
          open.set(from, at);
          pages.write(from, 0, from.length, at);
        } else if (action < 7) {
          open = resized(open, below(MAX_BYTES));
          pages.truncate(open.length);
        } else if (action < 8) {
          pages.rollback();
          open = committed.slice();
        } else {
          pages.commit();
          committed = open.slice();
          if (below(3) === 0) snapshots.push({ read: reading(pages.snapshot()), content: committed });
          if (action === 9) {
            const batch = pages.takeBatch();
            if (batch.dropsPatches) stored.patches = [];
            for (const extent of stored.extents.keys()) if (extent >= batch.cutFrom) stored.extents.delete(extent);
            for (const [extent, bytes] of batch.extents) stored.extents.set(extent, bytes.slice());
            stored.patches.push(...batch.patches);
            stored.sizeBytes = batch.sizeBytes;
            const again = new ExtentPages(Infinity);
            again.replace(stored);
            expect(isSame(contentOf(again), committed)).toBe(true);
          }
        }
        expect(isSame(contentOf(pages), open)).toBe(true);
      }
      expect(snapshots.length).toBeGreaterThan(0);
      for (const { read, content } of snapshots) expect(isSame(read(), content)).toBe(true);
    });
  }
});
