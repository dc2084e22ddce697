import * as Y from 'yjs';
import { sha256 } from '../src/bytes/sha256.ts';
import type { CellValue } from '../src/change/cell-value.ts';
import { decodeDocumentCell } from '../src/document/document-cell.ts';
import { emptyDocument } from '../src/document/empty-document.ts';

/**
 * Hash of the document id, operations and deletions of a state. Two replicas have equal hashes exactly if all of these
 * are equal. It does not cover the bytes of the state, because the way in which Yjs divides runs of operations into
 * structs depends on the order of arrival.
 */
export function documentStateHash(state: CellValue): string {
  const cell = decodeDocumentCell(state);
  if (cell.kind !== 'state') throw new Error('the document cell does not contain a state');
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
