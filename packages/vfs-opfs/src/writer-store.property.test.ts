import { describe, expect, it } from 'vitest';
import { changedPieces } from '../testing/changed-pieces.ts';
import { seededRandom } from '../testing/crash-images.ts';
import { SMALL_TUNING } from '../testing/crash-workload.ts';
import { SimulatedDisk } from '../testing/simulated-disk.ts';
import type { PieceComparer } from './database-store.ts';
import type { OpenedStore } from './opened-store.ts';
import { openWriter } from './open-writer.ts';
import { DEFAULT_TUNING } from './tuning.ts';

interface Layout {
  /** Of SQLite. */
  readonly pageBytes: number;
  readonly logPageBytes: number;
  readonly maxPages: number;
}

/** Pages of several pieces, of one piece, smaller than a piece, and larger than one comparison takes. */
const LAYOUTS: readonly Layout[] = [
  { pageBytes: 1024, logPageBytes: 512, maxPages: 300 },
  { pageBytes: 8192, logPageBytes: 1024, maxPages: 40 },
  { pageBytes: 512, logPageBytes: 1024, maxPages: 300 },
  { pageBytes: 65536, logPageBytes: 512, maxPages: 3 },
  { pageBytes: 65536, logPageBytes: 65536, maxPages: 3 },
];
const ROOM_BYTES = 64 * 1024;

function open(disk: SimulatedDisk, { pageBytes, logPageBytes }: Layout): Promise<OpenedStore> {
  return openWriter({
    name: 'pages',
    medium: disk.medium(),
    pageSizeBytes: pageBytes,
    timeoutMs: 1000,
    tuning: { ...DEFAULT_TUNING, ...SMALL_TUNING, logPageBytes },
    isStrict: false,
    onError: (error) => {
      throw error;
    },
  });
}

function comparerIn(heap: Uint8Array): PieceComparer {
  const room = heap.length - ROOM_BYTES;
  return {
    room,
    roomBytes: ROOM_BYTES,
    changedPieces: (source, pieceBytes, count) => changedPieces(heap, source, room, pieceBytes, count),
  };
}

function contentOf({ store }: OpenedStore): Uint8Array {
  store.beginRead();
  const bytes = new Uint8Array(store.sizeBytes());
  store.read(bytes, 0, bytes.length, 0);
  store.endRead();
  return bytes;
}

function resized(bytes: Uint8Array, sizeBytes: number): Uint8Array {
  const next = new Uint8Array(sizeBytes);
  next.set(bytes.subarray(0, sizeBytes));
  return next;
}

/** The first offset at which one differs from the other, or -1. */
function firstDifference(one: Uint8Array, other: Uint8Array): number {
  const length = Math.max(one.length, other.length);
  for (let at = 0; at < length; at += 1) if (one[at] !== other[at]) return at;
  return -1;
}

describe('a store that leaves out what equals the last commit', () => {
  for (let seed = 1; seed <= 15; seed += 1) {
    const layout = LAYOUTS[seed % LAYOUTS.length]!;
    const { pageBytes, logPageBytes, maxPages } = layout;
    it(`equals a plain file under any writes, truncations, commits and rollbacks, and after opening it again, with pages of ${pageBytes} in pieces of ${logPageBytes} bytes and seed ${seed}`, async () => {
      const random = seededRandom(seed);
      const below = (limit: number): number => Math.floor(random() * limit);
      const disk = new SimulatedDisk();
      const heap = new Uint8Array(pageBytes + ROOM_BYTES);
      const comparer = comparerIn(heap);
      let writer = await open(disk, layout);
      let committed: Uint8Array = new Uint8Array(0);
      let current: Uint8Array = committed;
      const write = (page: number): void => {
        // Few contents, so that a page is often written as it was, in one of its halves or in both.
        heap.fill(below(3), 0, pageBytes / 2).fill(below(3), pageBytes / 2, pageBytes);
        if (page === 0) {
          heap.fill(0, 0, 100).set(new TextEncoder().encode('SQLite format 3\0'));
          new DataView(heap.buffer).setUint16(16, pageBytes === 65536 ? 1 : pageBytes);
        }
        const at = page * pageBytes;
        writer.store.write(heap, 0, pageBytes, at, comparer);
        current = resized(current, Math.max(current.length, at + pageBytes));
        current.set(heap.subarray(0, pageBytes), at);
      };
      const actions: readonly (() => unknown)[] = [
        ...Array.from({ length: 6 }, () => () => write(below(Math.min(maxPages, current.length / pageBytes + 1)))),
        () => {
          for (let page = 0; page < 1 + below(maxPages); page += 1) write(page);
        },
        () => {
          if (current.length === 0) return;
          current = resized(current, (1 + below(current.length / pageBytes)) * pageBytes);
          writer.store.truncate(current.length);
        },
        () => {
          writer.store.commit();
          committed = current;
        },
        () => {
          writer.store.rollback();
          current = committed;
        },
        async () => {
          writer.store.rollback();
          current = committed;
          await writer.close(below(2) === 0);
          writer = await open(disk, layout);
        },
      ];
      for (let step = 0; step < 200; step += 1) {
        await actions[below(actions.length)]!();
        expect(firstDifference(contentOf(writer), current), `step ${step}`).toBe(-1);
      }
      await writer.close();
    });
  }
});
