import * as Y from 'yjs';
import { sha256 } from '../src/bytes/sha256.ts';
import type { CellValue } from '../src/change/cell-value.ts';
import { decodeDocumentCell } from '../src/document/document-cell.ts';
import { emptyDocument } from '../src/document/empty-document.ts';

/**
 * Says which document a state is of, and which operations and deletions are in it: equal exactly for replicas that have
 * the same. Not the bytes of the state: how Yjs cuts runs of operations into structs depends on the order in which they
 * came.
 */
export function documentStateHash(state: CellValue): string {
  const cell = decodeDocumentCell(state);
  if (cell.kind !== 'state') throw new Error('not a state');
  const doc = emptyDocument();
  Y.applyUpdate(doc, cell.update);
  const { sv, ds } = Y.snapshot(doc);
  const clocks = [...sv].sort(([a], [b]) => a - b).join(' ');
  const deletions = [...ds.clients]
    .sort(([a], [b]) => a - b)
    .map(([client, ranges]) => `${client}:${ranges.map(({ clock, len }) => `${clock}+${len}`).join()}`);
  const hash = sha256(new TextEncoder().encode(`${cell.documentId.join()} ${clocks} ${deletions.join(' ')}`));
  return [...hash].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
