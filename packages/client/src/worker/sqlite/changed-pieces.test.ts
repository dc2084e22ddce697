import { changedPieces, seededRandom } from '@rockpool/vfs-opfs/testing';
import { expect, it } from 'vitest';
import { loadSqlite } from './load-sqlite.node.ts';

const MAX_PIECES = 32;

it('SQLite’s build finds the pieces of a page that differ, wherever they do', async () => {
  const { module } = await loadSqlite();
  const random = seededRandom(1);
  const below = (limit: number): number => Math.floor(random() * limit);
  for (const pieceBytes of [512, 1024, 8192]) {
    const roomBytes = MAX_PIECES * pieceBytes;
    const [one, other] = [module._sqlite3_malloc(roomBytes), module._sqlite3_malloc(roomBytes)];
    const heap = module.HEAPU8;
    for (let at = 0; at < roomBytes; at++) heap[one + at] = below(256);
    for (let round = 0; round < 50; round++) {
      const count = below(MAX_PIECES + 1);
      heap.copyWithin(other, one, one + roomBytes);
      for (let changes = below(5); changes > 0; changes--) heap[other + below(roomBytes)]! ^= 1 << below(8);
      expect(module._rockpool_changed_pieces?.(one, other, pieceBytes, count)).toBe(
        changedPieces(heap, one, other, pieceBytes, count),
      );
    }
    module._sqlite3_free(one);
    module._sqlite3_free(other);
  }
});
