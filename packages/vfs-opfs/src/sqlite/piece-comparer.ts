import type { PieceComparer } from '../database-store.ts';
import type { SqliteModule } from './sqlite-module.ts';

/** SQLite's largest page. */
const ROOM_BYTES = 64 * 1024;

/** Undefined if the module cannot compare, or has no memory for it. */
export function pieceComparerOf(module: SqliteModule): PieceComparer | undefined {
  if (module._rockpool_changed_pieces === undefined) return undefined;
  const room = module._sqlite3_malloc(ROOM_BYTES);
  if (room === 0) return undefined;
  // The first call replaces an Emscripten stub with the WebAssembly function.
  module._rockpool_changed_pieces(room, room, 0, 0);
  const compare = module._rockpool_changed_pieces;
  return {
    room,
    roomBytes: ROOM_BYTES,
    changedPieces: (source, pieceBytes, count) => compare(source, room, pieceBytes, count),
  };
}
