import { ByteReader } from '../bytes/byte-reader.ts';
import { ByteWriter } from '../bytes/byte-writer.ts';
import type { CellValue } from '../change/cell-value.ts';
import { RockpoolError } from '../errors/rockpool-error.ts';
import { DOCUMENT_ID_BYTES } from './document-id.ts';

/*
 * The blob that represents a document wherever cells are merged, sent, and stored beside the app's own column:
 *
 *     u8 1, 8 bytes document id, Yjs update
 *         state: the whole document
 *     u8 2, 8 bytes document id, varint generation, Yjs update
 *         edit: what a site changed in the document (document-id.ts)
 *     u8 3, UTF-8
 *         content: canonical JSON of a new document, from which every replica makes the same state
 *     u8 4, 8 bytes document id, varint updates, each length-prefixed
 *         update: what other sites changed, for a replica that has the rest
 *     u8 5, 8 bytes document id, 16 bytes base id, varint bytes of the base, updates, each length-prefixed
 *         layers: a state as stored where documents are edited, never sent. The base is stored separately, under its
 *         hash; an edit adds a few bytes here
 *
 * NULL is NULL: no document.
 */
const STATE = 1;
const EDIT = 2;
const CONTENT = 3;
const NEWS = 4;
const LAYERS = 5;

export const BASE_ID_BYTES = 16;

export type DocumentCell =
  | { readonly kind: 'state'; readonly documentId: Uint8Array; readonly update: Uint8Array }
  | { readonly kind: 'edit'; readonly documentId: Uint8Array; readonly generation: number; readonly update: Uint8Array }
  | { readonly kind: 'update'; readonly documentId: Uint8Array; readonly updates: readonly Uint8Array[] }
  | Layers
  | { readonly kind: 'content'; readonly json: string };

export interface Layers {
  readonly kind: 'layers';
  readonly documentId: Uint8Array;
  readonly baseId: Uint8Array;
  readonly baseBytes: number;
  /** The updates in order of arrival. */
  readonly updates: readonly Uint8Array[];
}

const KINDS = { state: STATE, edit: EDIT, update: NEWS, layers: LAYERS } as const;

export function encodeDocumentCell(cell: DocumentCell): Uint8Array<ArrayBuffer> {
  if (cell.kind === 'content') return encodeContent(cell.json);
  const writer = new ByteWriter();
  writer.u8(KINDS[cell.kind]);
  writer.bytes(cell.documentId);
  if (cell.kind === 'layers') {
    writer.bytes(cell.baseId);
    writer.varint(cell.baseBytes);
  } else if (cell.kind === 'update') writer.varint(cell.updates.length);
  else if (cell.kind === 'edit') writer.varint(cell.generation);
  if ('updates' in cell) for (const update of cell.updates) writer.lengthPrefixed(update);
  else writer.bytes(cell.update);
  return writer.finish();
}

/** Allocates the exact size: a growing writer would copy these large values several times, and an import has many. */
function encodeContent(json: string): Uint8Array<ArrayBuffer> {
  const text = new TextEncoder().encode(json);
  const bytes = new Uint8Array(1 + text.length);
  bytes[0] = CONTENT;
  bytes.set(text, 1);
  return bytes;
}

/** The Yjs update of a whole state. Pages use it to avoid loading the code that decodes every kind. */
export function updateOfState(state: Uint8Array): Uint8Array {
  if (state[0] !== STATE)
    throw new RockpoolError('document-invalid', { problem: 'the document cell does not contain a state' });
  return state.subarray(1 + DOCUMENT_ID_BYTES);
}

/** Decodes a document cell. Throws `document-invalid` for anything that encodeDocumentCell does not write. */
export function decodeDocumentCell(value: CellValue): DocumentCell {
  const reader = new ByteReader(value instanceof Uint8Array ? value : new Uint8Array(), 'document-invalid');
  const kind = reader.u8();
  if (kind === CONTENT) return { kind: 'content', json: reader.utf8(reader.bytes(reader.remaining)) };
  if (kind !== STATE && kind !== EDIT && kind !== NEWS && kind !== LAYERS)
    return reader.fail('the document cell has an unknown kind');
  const documentId = reader.bytes(DOCUMENT_ID_BYTES);
  if (kind === STATE) return { kind: 'state', documentId, update: reader.bytes(reader.remaining) };
  if (kind === LAYERS) {
    const [baseId, baseBytes] = [reader.bytes(BASE_ID_BYTES), reader.varint()];
    const updates: Uint8Array[] = [];
    while (reader.remaining > 0) updates.push(reader.lengthPrefixed());
    return { kind: 'layers', documentId, baseId, baseBytes, updates };
  }
  if (kind === NEWS) {
    const updates: Uint8Array[] = [];
    const count = reader.count(1);
    for (let i = 0; i < count; i++) updates.push(reader.lengthPrefixed());
    reader.expectEnd();
    return { kind: 'update', documentId, updates };
  }
  const generation = reader.varint();
  return { kind: 'edit', documentId, generation, update: reader.bytes(reader.remaining) };
}

export function isDocumentEdit(value: CellValue): boolean {
  return value instanceof Uint8Array && value[0] === EDIT;
}
