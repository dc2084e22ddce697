import * as Y from 'yjs';
import type { CellValue } from '../change/cell-value.ts';
import { RockpoolError } from '../errors/rockpool-error.ts';
import { decodeDocumentCell, encodeDocumentCell } from './document-cell.ts';
import { clientIdOf, initialIds } from './document-id.ts';
import { MAX_DOCUMENT_DEPTH, PathRule, type DocumentRule } from './document-rule.ts';
import { inspectUpdate } from './inspect-update.ts';
import { canonicalJson, invalid, parseJson, type JsonValue } from './json.ts';
import { applyChange, diffJson } from './json-change.ts';
import { readNode, rootValue } from './json-node.ts';
import { overwrittenBy, type OperationId, type OverwrittenMember } from './overwritten.ts';
import { closeDocument, keepOpen, openUpdate, sameBytes } from './open-documents.ts';
import { writeJson } from './write-json.ts';

/*
 * A document as client and server handle it: a state (document-cell.ts) that edits are merged into. Pure functions over blobs, so that documents
 * follow the path of every other cell.
 */

/** The state of a new document. The same everywhere for the same content. */
export function createDocument(content: JsonValue, rule: DocumentRule): Uint8Array<ArrayBuffer> {
  return newState(content, rule);
}

/** The same content in a new document without a history. Edits of the old one do not fit it: see carryOver. */
export function compactDocument(state: CellValue, rule: DocumentRule): Uint8Array<ArrayBuffer> {
  return newState(parseJson(documentText(state), rule), rule, expectKind(state, 'state').documentId);
}

function newState(content: JsonValue, rule: DocumentRule, previous?: Uint8Array): Uint8Array<ArrayBuffer> {
  const { documentId, clientId } = initialIds(content, rule, previous);
  const doc = new Y.Doc();
  doc.clientID = clientId;
  doc.transact(() => writeJson(doc, content, PathRule.root(rule)));
  return encodeDocumentCell({ kind: 'state', documentId, update: closeDocument(doc) });
}

/** Content as it was sent becomes a state; a state and NULL stay what they are. Throws `document-invalid`. */
export function expandContent(value: CellValue, rule: DocumentRule): CellValue {
  if (value === null) return null;
  const cell = decodeDocumentCell(value);
  return cell.kind === 'content' ? createDocument(parseJson(cell.json, rule), rule) : value;
}

/** A Yjs update of no operations and no deletions. */
const NO_OPERATIONS: Uint8Array = new Uint8Array([0, 0]);

export interface Author {
  readonly site: string;
  /** See clientIdOf. */
  readonly generation: number;
}

export interface DocumentEdit {
  readonly edit: Uint8Array<ArrayBuffer>;
  readonly state: Uint8Array<ArrayBuffer>;
}

/** Makes a document hold other content. An edit of nothing where it does already. */
export function editDocument(state: CellValue, content: JsonValue, rule: DocumentRule, author: Author): DocumentEdit {
  const { documentId, doc } = openState(state);
  doc.clientID = clientIdOf(author.site, author.generation);
  let update: Uint8Array = NO_OPERATIONS;
  const remember = (bytes: Uint8Array): void => {
    update = bytes;
  };
  doc.on('update', remember);
  doc.transact(() => writeJson(doc, content, PathRule.root(rule)));
  doc.off('update', remember);
  return {
    edit: encodeDocumentCell({ kind: 'edit', documentId, generation: author.generation, update }),
    state: encodeDocumentCell({ kind: 'state', documentId, update: closeDocument(doc) }),
  };
}

/** A Yjs update that deletes the first operation of client 0, which nobody is (document-id.ts). */
const GAP: Uint8Array = new Uint8Array([0, 1, 0, 1, 0, 1]);

/** An edit of the same document that says nothing and builds on what no document has: refused with `document-gap` wherever it is merged. */
export function editWithGap(edit: CellValue): Uint8Array<ArrayBuffer> {
  return encodeDocumentCell({ ...expectKind(edit, 'edit'), update: GAP });
}

/**
 * A state with an edit in it, for edits that were inspected before or are this site's own. The state as it was when the edit is of another document:
 * then that document was replaced. Throws `document-gap` when the edit builds on what the state does not have.
 */
export function mergeEdit(state: CellValue, edit: CellValue): CellValue {
  const { documentId, update } = expectKind(edit, 'edit');
  if (state === null) return null;
  const opened = openState(state);
  if (!sameBytes(opened.documentId, documentId)) {
    keepOpen(opened.update, opened.doc);
    return state;
  }
  Y.applyUpdate(opened.doc, update);
  if (hasGap(opened.doc)) throw new RockpoolError('document-gap');
  return encodeDocumentCell({ kind: 'state', documentId, update: closeDocument(opened.doc) });
}

/**
 * What a delivery says about a document, on top of what was known: a whole document, NULL, or news of the one that is here.
 * Throws `document-invalid` for news of a document that is not here: whoever sent them took this replica for another.
 */
export function mergeNews(state: CellValue, delivered: CellValue): CellValue {
  if (delivered === null) return null;
  const cell = decodeDocumentCell(delivered);
  if (cell.kind !== 'news') return delivered;
  if (state === null) throw invalid('news of another document');
  const { documentId, doc } = openState(state);
  if (!sameBytes(documentId, cell.documentId)) throw invalid('news of another document');
  doc.transact(() => {
    for (const update of cell.updates) Y.applyUpdate(doc, update);
  });
  if (hasGap(doc)) throw new RockpoolError('document-gap');
  return encodeDocumentCell({ kind: 'state', documentId, update: closeDocument(doc) });
}

/** Whether what is delivered are news of the document that a state is of. */
export function isNewsOf(state: CellValue, delivered: CellValue): boolean {
  if (state === null || delivered === null) return false;
  const cell = decodeDocumentCell(delivered);
  return cell.kind === 'news' && sameBytes(expectKind(state, 'state').documentId, cell.documentId);
}

/** Whether two states are of one document. */
export function isSameDocument(a: CellValue, b: CellValue): boolean {
  return sameBytes(expectKind(a, 'state').documentId, expectKind(b, 'state').documentId);
}

export function isEditOf(state: CellValue, edit: CellValue): boolean {
  return state !== null && sameBytes(expectKind(state, 'state').documentId, expectKind(edit, 'edit').documentId);
}

export interface MergedEdit {
  readonly state: Uint8Array<ArrayBuffer>;
  readonly overwritten: readonly OverwrittenMember[];
}

/**
 * Merges an edit that somebody else sent: nothing of it is trusted, and nothing is changed unless all of it is sound. Tells what it overwrote unseen, and
 * what of it was overwritten before it came.
 *
 * Throws `document-invalid` for what an honest author never sends or what the rule does not allow, and `document-gap`.
 */
export function mergeForeignEdit(state: CellValue, edit: CellValue, rule: DocumentRule, site: string): MergedEdit {
  const { generation, update } = expectKind(edit, 'edit');
  const { documentId, doc } = openState(state);
  const clocks = Y.decodeStateVector(Y.encodeStateVector(doc));
  const clientId = clientIdOf(site, generation);
  inspectUpdate(update, { clientId, clocks, maxAdvance: 2 * rule.maxLength });
  let overwritten: readonly OverwrittenMember[];
  try {
    overwritten = overwrittenBy(doc, clientId, rule.elementKey, () => Y.applyUpdate(doc, update));
  } catch {
    throw invalid('update');
  }
  if (hasGap(doc)) throw new RockpoolError('document-gap');
  const text = canonicalJson(readNode(rootValue(doc), Math.min(rule.maxDepth, MAX_DOCUMENT_DEPTH)));
  if (text.length > rule.maxLength) throw invalid('size', { limit: rule.maxLength });
  return { state: encodeDocumentCell({ kind: 'state', documentId, update: closeDocument(doc) }), overwritten };
}

/** Whether an edit, as it was sent or kept, has this operation in it. */
export function hasOperation(update: Uint8Array, { client, clock }: OperationId): boolean {
  const { from, to } = Y.parseUpdateMeta(update);
  return clock >= (from.get(client) ?? Infinity) && clock < (to.get(client) ?? 0);
}

/**
 * Makes in a document what an edit of another one did there, which it took the place of: `before` and `after` are that one without and with the edit.
 * Gives the new state.
 */
export function carryOver(state: CellValue, before: CellValue, after: CellValue, rule: DocumentRule, author: Author): CellValue {
  const path = PathRule.root(rule);
  const valueOf = (of: CellValue): JsonValue => parseJson(documentText(of), rule);
  const change = diffJson(valueOf(before), valueOf(after), path);
  if (change === null) return state;
  return editDocument(state, applyChange(valueOf(state), change, path).value, rule, author).state;
}

/** What stands in the app's column: canonical JSON. Throws `document-invalid` for a state that no edit of ours made. */
export function documentText(state: CellValue): string {
  const { doc, update } = openState(state);
  const text = canonicalJson(readNode(rootValue(doc), MAX_DOCUMENT_DEPTH));
  keepOpen(update, doc);
  return text;
}

function openState(state: CellValue): { readonly documentId: Uint8Array; readonly update: Uint8Array; readonly doc: Y.Doc } {
  const { documentId, update } = expectKind(state, 'state');
  return { documentId, update, doc: openUpdate(update) };
}

function expectKind<K extends 'state' | 'edit'>(value: CellValue, kind: K): Extract<ReturnType<typeof decodeDocumentCell>, { kind: K }> {
  const cell = decodeDocumentCell(value);
  if (cell.kind !== kind) throw invalid('kind');
  return cell as Extract<ReturnType<typeof decodeDocumentCell>, { kind: K }>;
}

/** Yjs keeps what it cannot place yet. */
function hasGap(doc: Y.Doc): boolean {
  return doc.store.pendingStructs !== null || doc.store.pendingDs !== null;
}
