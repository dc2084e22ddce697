import * as Y from 'yjs';
import { sha256 } from '../bytes/sha256.ts';
import type { CellValue } from '../change/cell-value.ts';
import { RockpoolError } from '../errors/rockpool-error.ts';
import {
  BASE_ID_BYTES,
  decodeDocumentCell,
  encodeDocumentCell,
  type DocumentCell,
  type Layers,
} from './document-cell.ts';
import { checkRichTexts } from './check-rich-texts.ts';
import { clientIdOf, initialIds } from './document-id.ts';
import { MAX_DOCUMENT_DEPTH, PathRule, type DocumentRule } from './document-rule.ts';
import { emptyDocument } from './empty-document.ts';
import { inspectUpdate } from './inspect-update.ts';
import { canonicalJson, invalid, parseJson, type JsonValue } from './json.ts';
import { canonicalTextOf, rememberText } from './json-text.ts';
import { applyChange, diffJson } from './json-change.ts';
import { PLACE, readNode, rootValue } from './json-node.ts';
import { overwrittenBy, overwrittenByCarrying, type OperationId, type OverwrittenMember } from './overwritten.ts';
import { hasRoomBefore, isPosition } from './position.ts';
import { canonicalRichTexts } from './rich-text.ts';
import { isOpen, keepOpen, sameBytes, takeOpen, type OpenDocument } from './open-documents.ts';
import { writeJson } from './write-json.ts';

/*
 * A document on client and server: a state (document-cell.ts) into which edits are merged. Pure functions over blobs,
 * so that documents take the same path as any other cell.
 */

/** Reads the base of layers by its id. */
export type ReadBase = (baseId: Uint8Array) => Uint8Array;

/** The default for callers that store no layers. */
const NO_BASES: ReadBase = () => {
  throw invalid('base');
};

/** The state of a new document: the same on every replica for the same content. */
export function createDocument(content: JsonValue, rule: DocumentRule): Uint8Array<ArrayBuffer> {
  return newState(content, rule);
}

/** The same content as a new document without history. Edits of the old document do not apply to it: see carryOver. */
export function compactDocument(state: CellValue, rule: DocumentRule): Uint8Array<ArrayBuffer> {
  return newState(parseJson(documentText(state), rule), rule, expectState(state).documentId);
}

function newState(content: JsonValue, rule: DocumentRule, previous?: Uint8Array): Uint8Array<ArrayBuffer> {
  const { documentId, clientId } = initialIds(content, rule, previous);
  const doc = emptyDocument();
  doc.clientID = clientId;
  doc.transact(() => writeJson(doc, content, PathRule.root(rule)));
  return closeWhole({ documentId, doc }, undefined);
}

/** Turns sent content into a state; leaves states and NULL as they are. Throws `document-invalid`. */
export function expandContent(value: CellValue, rule: DocumentRule): CellValue {
  if (value === null) return null;
  const cell = decodeDocumentCell(value);
  return cell.kind === 'content' ? createDocument(readContent(cell.json, rule), rule) : value;
}

/** Parses text from another author. Throws `document-invalid` for anything but JSON within the rule. */
export function readContent(text: string, rule: DocumentRule): JsonValue {
  return canonicalRichTexts(parseJson(text, rule), PathRule.root(rule));
}

/** A Yjs update without operations or deletions. */
const NO_OPERATIONS: Uint8Array = new Uint8Array([0, 0]);

export interface Author {
  readonly site: string;
  /** The generation of the edit; see clientIdOf. */
  readonly generation: number;
}

export interface DocumentEdit {
  readonly edit: Uint8Array<ArrayBuffer>;
  readonly state: Uint8Array<ArrayBuffer>;
}

/** Creates the edit that gives a document other content. The edit is empty if the content is equal. */
export function editDocument(
  state: CellValue,
  content: JsonValue,
  rule: DocumentRule,
  author: Author,
  readBase: ReadBase = NO_BASES,
): DocumentEdit {
  const opened = openState(state, readBase);
  const { documentId, doc } = opened;
  doc.clientID = clientIdOf(author.site, author.generation);
  let update: Uint8Array = NO_OPERATIONS;
  const remember = (bytes: Uint8Array): void => {
    update = bytes;
  };
  doc.on('update', remember);
  doc.transact(() => writeJson(doc, content, PathRule.root(rule), opened.json));
  doc.off('update', remember);
  return {
    edit: encodeDocumentCell({ kind: 'edit', documentId, generation: author.generation, update }),
    state: close(opened, [update], content),
  };
}

/** A Yjs update that deletes the first operation of client 0, an id that no client has (document-id.ts). */
const GAP: Uint8Array = new Uint8Array([0, 1, 0, 1, 0, 1]);

/**
 * An edit of the same document that changes nothing and builds on an operation that no document has: every merge
 * rejects it with `document-gap`.
 */
export function editWithGap(edit: CellValue): Uint8Array<ArrayBuffer> {
  return encodeDocumentCell({ ...expectEdit(edit), update: GAP });
}

/**
 * A state with an edit merged in, for edits that were inspected before or are this site's own. Returns the state
 * unchanged if the edit belongs to a different document, which has been replaced. Throws `document-gap` when the edit
 * builds on operations that the state lacks.
 */
export function mergeEdit(state: CellValue, edit: CellValue, readBase: ReadBase = NO_BASES): CellValue {
  return mergeEdits(state, [edit], readBase);
}

/** Merges several edits like mergeEdit, in order. Together they cost little more than one. */
export function mergeEdits(state: CellValue, edits: readonly CellValue[], readBase: ReadBase = NO_BASES): CellValue {
  const cells = edits.map((edit) => expectEdit(edit));
  if (state === null) return null;
  const { documentId } = expectState(state);
  const updates = cells.filter((cell) => sameBytes(cell.documentId, documentId)).map(({ update }) => update);
  return updates.length === 0 ? state : mergeUpdates(state, updates, readBase);
}

/**
 * Applies a delivered value: a whole document, NULL, or an update of the local document. Throws `document-invalid` for
 * an update of any other document: the server mistook this replica for a different one.
 */
export function mergeDelivered(state: CellValue, delivered: CellValue, readBase: ReadBase = NO_BASES): CellValue {
  if (delivered === null) return null;
  const cell = decodeDocumentCell(delivered);
  if (cell.kind === 'layers') throw invalid('kind');
  if (cell.kind !== 'update') return delivered;
  if (state === null || !sameBytes(expectState(state).documentId, cell.documentId))
    throw invalid('the edit belongs to another document');
  return mergeUpdates(state, cell.updates, readBase);
}

function mergeUpdates(state: CellValue, updates: readonly Uint8Array[], readBase: ReadBase): CellValue {
  const layers = withUpdates(expectState(state), updates);
  // The document is open already, built from the same updates.
  if (layers !== null && isOpen(layers)) return layers;
  const opened = openState(state, readBase);
  opened.doc.transact(() => {
    for (const update of updates) Y.applyUpdate(opened.doc, update);
  });
  if (hasGap(opened.doc)) throw new RockpoolError('document-gap');
  return close(opened, updates, undefined);
}

/** Whether two states belong to the same document. */
export function isSameDocument(a: CellValue, b: CellValue): boolean {
  return sameBytes(expectState(a).documentId, expectState(b).documentId);
}

/** The number of operations of an author in a state, in the given generation. */
export function operationsOf(state: CellValue, { site, generation }: Author, readBase: ReadBase = NO_BASES): number {
  const cell = expectState(state);
  const client = clientIdOf(site, generation);
  const updates = cell.kind === 'state' ? [cell.update] : [readBase(cell.baseId), ...cell.updates];
  return Math.max(...updates.map((update) => Y.parseUpdateMeta(update).to.get(client) ?? 0));
}

export function isEditOf(state: CellValue, edit: CellValue): boolean {
  return state !== null && sameBytes(expectState(state).documentId, expectEdit(edit).documentId);
}

export interface MergedEdit {
  readonly state: Uint8Array<ArrayBuffer>;
  readonly overwritten: readonly OverwrittenMember[];
}

export interface CarriedEdit extends MergedEdit {
  /** The operations that were added to the document, as a Yjs update. */
  readonly update: Uint8Array;
}

/**
 * Merges an edit of another site. The edit is not trusted, and the document does not change unless the whole edit is
 * valid. Reports what the edit overwrote without its author having seen it, and which parts of the edit were
 * overwritten before it arrived.
 *
 * Throws `document-invalid` for an edit that no honest author sends or that the rule does not allow, and
 * `document-gap`.
 */
export function mergeForeignEdit(
  state: CellValue,
  edit: CellValue,
  rule: DocumentRule,
  site: string,
  readBase: ReadBase = NO_BASES,
): MergedEdit {
  const { generation, update } = expectEdit(edit);
  const opened = openState(state, readBase);
  const { doc } = opened;
  const clocks = Y.decodeStateVector(Y.encodeStateVector(doc));
  const clientId = clientIdOf(site, generation);
  const path = PathRule.root(rule);
  inspectUpdate(update, { clientId, clocks, maxAdvance: 2 * rule.maxLength, hasRichText: path.hasRichText });
  let overwritten: readonly OverwrittenMember[];
  try {
    overwritten = overwrittenBy(doc, clientId, rule.elementKey, update);
  } catch {
    throw invalid('update');
  }
  if (hasGap(doc)) throw new RockpoolError('document-gap');
  checkPlaces(doc, clientId, clocks.get(clientId) ?? 0);
  const json = readNode(rootValue(doc), Math.min(rule.maxDepth, MAX_DOCUMENT_DEPTH));
  if (path.hasRichText) checkRichTexts(rootValue(doc), path);
  const text = canonicalJson(json);
  if (text.length > rule.maxLength) throw invalid('size', { limit: rule.maxLength });
  rememberText(text, json, MAX_DOCUMENT_DEPTH);
  const merged = close(opened, [update], json);
  // The caller requests the text next, and a small document is not kept open.
  rememberDocumentText(merged, text);
  return { state: merged, overwritten };
}

/**
 * Checks the places that a Yjs client has given to elements, in its operations from `clock` on. Throws
 * `document-invalid`.
 */
function checkPlaces(doc: Y.Doc, clientId: number, clock: number): void {
  const structs = doc.store.clients.get(clientId) ?? [];
  for (let at = structs.length - 1; at >= 0; at--) {
    const struct = structs[at];
    if (struct === undefined || struct.id.clock < clock) return;
    if (!(struct instanceof Y.Item) || struct.parentSub !== PLACE || struct.deleted) continue;
    if (!struct.content.getContent().every((place) => isPosition(place) && hasRoomBefore(place)))
      throw invalid('structure');
  }
}

/** Returns a function that tells whether an edit, as sent or stored, contains an operation. */
export function operationsIn(update: Uint8Array): (operation: OperationId) => boolean {
  const { from, to } = Y.parseUpdateMeta(update);
  return ({ client, clock }) => clock >= (from.get(client) ?? Infinity) && clock < (to.get(client) ?? 0);
}

/** The Yjs clients with operations in an edit, as sent or stored. */
export function clientsOf(update: Uint8Array): number[] {
  return [...Y.parseUpdateMeta(update).to.keys()];
}

/**
 * Repeats an edit of a replaced document in the document that replaced it. `before` and `after` are the replaced
 * document without and with the edit. Reports every value that others have written to the new document and that the
 * edit changes, because the author of the edit had seen none of them.
 *
 * Throws `document-invalid` if the document would exceed the length that the rule allows.
 */
export function carryOver(
  state: CellValue,
  before: CellValue,
  after: CellValue,
  rule: DocumentRule,
  author: Author,
): CarriedEdit {
  const path = PathRule.root(rule);
  const [now, old, wanted] = [state, before, after].map((of) => parseJson(documentText(of), rule)) as [
    JsonValue,
    JsonValue,
    JsonValue,
  ];
  const change = diffJson(old, wanted, path);
  if (change === null) return { state: state as Uint8Array<ArrayBuffer>, overwritten: [], update: NO_OPERATIONS };
  const made = applyChange(now, change, path);
  // The document and the repeated edit can each be within the limit while the result exceeds it; then no further edit
  // would be possible.
  if (canonicalJson(made.value).length > rule.maxLength) throw invalid('size', { limit: rule.maxLength });
  const opened = openState(state, NO_BASES);
  const overwritten = overwrittenByCarrying(opened.doc, made.overwritten, now, wanted, made.value);
  keepOpen(state as Uint8Array, opened.sizeBytes, opened);
  const edited = editDocument(state, made.value, rule, author);
  return { state: edited.state, overwritten, update: expectEdit(edited.edit).update };
}

/**
 * Texts of states that were read earlier, on this or another thread. The key is the array of bytes itself, not its
 * content.
 */
const textOfState = new WeakMap<Uint8Array, string>();

/** Records the result of `documentText` for these bytes, for a caller that has it from another thread. */
export function rememberDocumentText(state: Uint8Array, text: string): void {
  textOfState.set(state, text);
}

/**
 * The text in the app's column: canonical JSON. Throws `document-invalid` for a state that no valid edit can produce.
 */
export function documentText(state: CellValue, readBase: ReadBase = NO_BASES): string {
  const known = state instanceof Uint8Array ? textOfState.get(state) : undefined;
  if (known !== undefined) return known;
  const opened = openState(state, readBase);
  const json = opened.json ?? readNode(rootValue(opened.doc), MAX_DOCUMENT_DEPTH);
  const text = canonicalTextOf(json);
  rememberText(text, json, MAX_DOCUMENT_DEPTH);
  keepOpen(state as Uint8Array, opened.sizeBytes, { doc: opened.doc, json });
  return text;
}

/**
 * A state on a base of its own, for a document that is about to be edited; null for a state that is too small to
 * benefit, or has layers already.
 */
export function toLayers(
  state: CellValue,
): { readonly state: Uint8Array<ArrayBuffer>; readonly base: Uint8Array; readonly baseId: Uint8Array } | null {
  const cell = expectState(state);
  if (cell.kind === 'layers' || cell.update.length < MIN_BASE_BYTES) return null;
  const baseId = sha256(cell.update).slice(0, BASE_ID_BYTES);
  const layers = encodeDocumentCell({
    kind: 'layers',
    documentId: cell.documentId,
    baseId,
    baseBytes: cell.update.length,
    updates: [],
  });
  const opened = takeOpen(state as Uint8Array);
  if (opened !== undefined) keepOpen(layers, cell.update.length, opened);
  return { state: layers, base: cell.update, baseId };
}

/** The id of the base of a state; null if the state has no layers. */
export function baseIdOf(state: CellValue): Uint8Array | null {
  const cell = expectState(state);
  return cell.kind === 'layers' ? cell.baseId : null;
}

/** The state without layers, as it can be sent. */
export function completeState(state: CellValue, readBase: ReadBase): CellValue {
  if (state === null || baseIdOf(state) === null) return state;
  const opened = openState(state, readBase);
  keepOpen(state as Uint8Array, opened.sizeBytes, opened);
  return encodeDocumentCell({
    kind: 'state',
    documentId: opened.documentId,
    update: Y.encodeStateAsUpdate(opened.doc),
  });
}

/** Smaller states are written whole, because the table pages that an edit writes anyway have room for them. */
const MIN_BASE_BYTES = 8 * 1024;

/**
 * The limit for the updates on a base, in bytes. Every edit writes all of them; the edit that exceeds the limit writes
 * a new base once.
 */
function maxUpdateBytes(baseBytes: number): number {
  return Math.min(64 * 1024, baseBytes / 8);
}

type StateCell = Layers | Extract<DocumentCell, { kind: 'state' }>;

interface OpenedState extends OpenDocument {
  readonly cell: StateCell;
  readonly documentId: Uint8Array;
  readonly sizeBytes: number;
}

function openState(state: CellValue, readBase: ReadBase): OpenedState {
  const cell = expectState(state);
  const { doc, json } = takeOpen(state as Uint8Array) ?? { doc: build(cell, readBase), json: undefined };
  return {
    cell,
    documentId: cell.documentId,
    sizeBytes: cell.kind === 'state' ? cell.update.length : cell.baseBytes,
    doc,
    json,
  };
}

function build(cell: StateCell, readBase: ReadBase): Y.Doc {
  const doc = emptyDocument();
  doc.transact(() => {
    for (const update of cell.kind === 'state' ? [cell.update] : [readBase(cell.baseId), ...cell.updates])
      Y.applyUpdate(doc, update);
  });
  return doc;
}

/** The state of an open document after updates. */
function close(
  opened: OpenedState,
  updates: readonly Uint8Array[],
  json: JsonValue | undefined,
): Uint8Array<ArrayBuffer> {
  const layers = withUpdates(opened.cell, updates);
  if (layers === null) return closeWhole(opened, json);
  keepOpen(layers, opened.sizeBytes, { doc: opened.doc, json });
  return layers;
}

function closeWhole(
  { documentId, doc }: Pick<OpenedState, 'documentId' | 'doc'>,
  json: JsonValue | undefined,
): Uint8Array<ArrayBuffer> {
  const update = Y.encodeStateAsUpdate(doc);
  const state = encodeDocumentCell({ kind: 'state', documentId, update });
  keepOpen(state, update.length, { doc, json });
  return state;
}

/** Layers with further updates; null for a state without layers, or with too many updates. */
function withUpdates(cell: StateCell, updates: readonly Uint8Array[]): Uint8Array<ArrayBuffer> | null {
  if (cell.kind !== 'layers') return null;
  const all = [...cell.updates, ...updates.filter((update) => !sameBytes(update, NO_OPERATIONS))];
  const sizeBytes = all.reduce((sum, update) => sum + update.length, 0);
  return sizeBytes <= maxUpdateBytes(cell.baseBytes) ? encodeDocumentCell({ ...cell, updates: all }) : null;
}

function expectState(value: CellValue): StateCell {
  const cell = decodeDocumentCell(value);
  if (cell.kind !== 'state' && cell.kind !== 'layers') throw invalid('kind');
  return cell;
}

function expectEdit(value: CellValue): Extract<DocumentCell, { kind: 'edit' }> {
  const cell = decodeDocumentCell(value);
  if (cell.kind !== 'edit') throw invalid('kind');
  return cell;
}

/** Yjs keeps operations whose predecessors are missing. */
function hasGap(doc: Y.Doc): boolean {
  return doc.store.pendingStructs !== null || doc.store.pendingDs !== null;
}
