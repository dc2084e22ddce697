import type { SqliteModule } from '../src/sqlite/sqlite-module.ts';

/** Adds the page comparison of Rockpool's own SQLite build to a build that lacks it. */
export function withChangedPieces<M extends SqliteModule>(module: M): M {
  module._rockpool_changed_pieces = (pointer, otherPointer, pieceBytes, count) =>
    changedPieces(module.HEAPU8, pointer, otherPointer, pieceBytes, count);
  return module;
}

/** Bit i is set if piece i at `start` differs from piece i at `otherStart`. */
export function changedPieces(
  heap: Uint8Array,
  start: number,
  otherStart: number,
  pieceBytes: number,
  count: number,
): number {
  let changed = 0;
  for (let at = 0; at < pieceBytes * count; at++)
    if (heap[start + at] !== heap[otherStart + at]) changed |= 1 << Math.floor(at / pieceBytes);
  return changed;
}
