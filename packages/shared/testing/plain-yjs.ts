import * as Y from 'yjs';
import { decodeDocumentCell, encodeDocumentCell, type DocumentCell } from '../src/document/document-cell.ts';
import { emptyDocument } from '../src/document/empty-document.ts';

/**
 * The oracle: Yjs itself merges the edits, the last one first, and keeps operations whose predecessors are missing
 * until these arrive. Returns the state.
 */
export function plainYjs(start: Uint8Array, edits: readonly Uint8Array[]): Uint8Array {
  const doc = emptyDocument();
  const { documentId, update } = decodeDocumentCell(start) as Extract<DocumentCell, { kind: 'state' }>;
  Y.applyUpdate(doc, update);
  for (const edit of edits)
    Y.applyUpdate(doc, (decodeDocumentCell(edit) as Extract<DocumentCell, { kind: 'edit' }>).update);
  return encodeDocumentCell({ kind: 'state', documentId, update: Y.encodeStateAsUpdate(doc) });
}
