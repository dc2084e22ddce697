import { RockpoolError, type CellValue, type DocumentRule } from '@rockpool/shared';
import {
  canonicalJson,
  clientsOf,
  createDocument,
  decodeDocumentCell,
  documentText,
  isDocumentEdit,
  isEditOf,
  parseJson,
  readContent,
} from '@rockpool/shared/document';
import type { SqliteFile } from '../sqlite/sqlite-file.ts';
import type { StoredTable } from '../sqlite/stored-table.ts';
import { forgetAuthors, moveAuthorsToReplaced, rememberAuthors, rememberAuthorsOfEdits } from './document-authors.ts';
import { keepEdit } from './document-edits.ts';
import type { DocumentFile } from './document-file.ts';
import { keyOf, type DocumentPlace } from './document-place.ts';
import { GROWTH } from './document-work.ts';
import { rememberForm } from './earlier-forms.ts';

/* The states of the documents of one database. The app's columns contain their JSON. Edits: document-edits.ts. */

/** A smaller state is not compacted: every reader would have to load the new document. */
const MIN_COMPACTED_BYTES = 16 * 1024;

/** The value of the app's column for a cell. */
export function toColumnValue(table: StoredTable, columnId: number, value: CellValue): CellValue {
  return value === null || !table.documents.has(columnId) ? value : documentText(value);
}

/** Replaces the JSON of documents, read from the app's table, by their states. */
export function withDocuments(
  sql: SqliteFile,
  table: StoredTable,
  keyBytes: Uint8Array,
  values: Map<number, CellValue>,
): Map<number, CellValue> {
  for (const columnId of table.documents.keys()) {
    const text = values.get(columnId);
    if (typeof text === 'string')
      values.set(columnId, readState(sql, { table, keyBytes, columnId }) ?? newState(table, columnId, text));
  }
  return values;
}

function readState(sql: SqliteFile, place: DocumentPlace): CellValue {
  return (
    sql.get(
      'SELECT state FROM rockpool_document WHERE table_id = ? AND key = ? AND column_id = ?',
      ...keyOf(place),
    )?.[0] ?? null
  );
}

/** The state for JSON that was stored before its column had a document rule. Every replica builds the same one. */
function newState(table: StoredTable, columnId: number, text: string): CellValue {
  const rule = table.documents.get(columnId) as DocumentRule;
  return createDocument(parseJson(text, rule), rule);
}

/**
 * The text of a document as devices receive it, which is canonical JSON. The app's column may have a different form if
 * the value was stored before the column had a document rule. Text that is not a document stays as it is.
 */
export function deliveredText(sql: SqliteFile, place: DocumentPlace, text: CellValue): CellValue {
  const rule = place.table.documents.get(place.columnId);
  if (typeof text !== 'string' || rule === undefined || hasState(sql, place)) return text;
  try {
    return canonicalJson(readContent(text, rule));
  } catch (error) {
    if (error instanceof RockpoolError) return text;
    throw error;
  }
}

function hasState(sql: SqliteFile, place: DocumentPlace): boolean {
  return (
    sql.get('SELECT 1 FROM rockpool_document WHERE table_id = ? AND key = ? AND column_id = ?', ...keyOf(place)) !==
    undefined
  );
}

/** The document that the current one replaced when it was compacted; null for none. */
export function readReplaced(sql: SqliteFile, place: DocumentPlace): CellValue {
  return (
    sql.get(
      'SELECT state FROM rockpool_document_replaced WHERE table_id = ? AND key = ? AND column_id = ?',
      ...keyOf(place),
    )?.[0] ?? null
  );
}

/**
 * Whether the document is known to be the one that came with its row's insert at this watermark. False if the watermark
 * is unknown, or if some of the document's edits are no longer kept.
 */
export function isSinceInsert(sql: SqliteFile, place: DocumentPlace, insertedAt: number | null): boolean {
  return (
    sql.get(
      'SELECT 1 FROM rockpool_document WHERE table_id = ? AND key = ? AND column_id = ? AND edits_above = ?',
      ...keyOf(place),
      insertedAt === null ? null : BigInt(insertedAt),
    ) !== undefined
  );
}

/** The size of a state, in bytes, above which the document is to be compacted. */
export function compactAbove(sql: SqliteFile, place: DocumentPlace): number {
  return Number(
    sql.get(
      'SELECT compact_above FROM rockpool_document WHERE table_id = ? AND key = ? AND column_id = ?',
      ...keyOf(place),
    )?.[0] ?? MIN_COMPACTED_BYTES,
  );
}

/** Stores a document cell: a state with the edit that led to it, a state that replaces another one, or NULL. */
export function writeDocument(
  { sql, documents }: DocumentFile,
  place: DocumentPlace,
  state: CellValue,
  sent: CellValue,
  watermark: number,
): void {
  if (state === null) {
    deleteDocument(sql, place);
    return forgetAuthors(sql, place);
  }
  const carried = documents.carried(state as Uint8Array);
  if (isDocumentEdit(sent) && (carried !== null || isEditOf(state, sent))) {
    const limit = documents.compactAbove(state as Uint8Array);
    const editsAbove = keepEdit(sql, place, watermark, carried?.update ?? updateOf(sent), (state as Uint8Array).length);
    const known = sql.get(
      'SELECT edits_above, compact_above FROM rockpool_document WHERE table_id = ? AND key = ? AND column_id = ?',
      ...keyOf(place),
    );
    // An UPDATE would allocate the pages of the new state before it frees those of the old one, and a file never
    // shrinks.
    sql.run(
      'INSERT OR REPLACE INTO rockpool_document (table_id, key, column_id, state, edits_above, compact_above) VALUES (?, ?, ?, ?, ?, ?)',
      ...keyOf(place),
      state,
      editsAbove === null ? (known?.[0] ?? BigInt(watermark)) : BigInt(editsAbove),
      limit === null ? (known?.[1] ?? BigInt(growthLimit(state))) : BigInt(limit),
    );
    if (carried !== null) writeLateEdit(sql, place, documents.replaced(state as Uint8Array), sent, watermark);
    return;
  }
  const replaced = isDocumentEdit(sent) ? documents.replaced(state as Uint8Array) : null;
  writeAuthors(sql, place, sent, watermark, replaced !== null);
  const earlier = replaced === null ? null : readReplaced(sql, place);
  if (earlier !== null) rememberForm(sql, place, earlier, watermark);
  deleteDocument(sql, place);
  const values = [...keyOf(place), state, BigInt(watermark), BigInt(growthLimit(state))];
  sql.run(
    'INSERT INTO rockpool_document (table_id, key, column_id, state, edits_above, compact_above) VALUES (?, ?, ?, ?, ?, ?)',
    ...values,
  );
  if (replaced !== null)
    sql.run(
      'INSERT INTO rockpool_document_replaced (table_id, key, column_id, state) VALUES (?, ?, ?, ?)',
      ...keyOf(place),
      replaced,
    );
}

/** Merges a late edit into the replaced document, because the next late edit may build on it. */
function writeLateEdit(
  sql: SqliteFile,
  place: DocumentPlace,
  replaced: Uint8Array | null,
  sent: CellValue,
  watermark: number,
): void {
  sql.run(
    'UPDATE rockpool_document_replaced SET state = ? WHERE table_id = ? AND key = ? AND column_id = ?',
    replaced,
    ...keyOf(place),
  );
  rememberAuthors(sql, place, 'replaced', clientsOf(updateOf(sent)), watermark);
}

/**
 * Records the authors in a document that replaces another one: after compaction, with new content, or restored with its
 * row. The edit that restores a row may compact its document too.
 */
function writeAuthors(
  sql: SqliteFile,
  place: DocumentPlace,
  sent: CellValue,
  watermark: number,
  isCompacted: boolean,
): void {
  if (sent === null) return;
  if (!isDocumentEdit(sent)) return forgetAuthors(sql, place);
  rememberAuthorsOfEdits(sql, place);
  rememberAuthors(sql, place, isCompacted ? 'now' : 'replaced', clientsOf(updateOf(sent)), watermark);
  if (isCompacted) moveAuthorsToReplaced(sql, place);
}

function updateOf(edit: CellValue): Uint8Array {
  return (decodeDocumentCell(edit) as Extract<ReturnType<typeof decodeDocumentCell>, { kind: 'edit' }>).update;
}

function growthLimit(state: CellValue): number {
  return Math.max(MIN_COMPACTED_BYTES, GROWTH * (state as Uint8Array).length);
}

/** Deletes the documents of a row, but not their authors, because the documents may be restored with the row. */
export function deleteDocuments(sql: SqliteFile, table: StoredTable, keyBytes: Uint8Array): void {
  for (const columnId of table.documents.keys()) {
    const place = { table, keyBytes, columnId };
    rememberAuthorsOfEdits(sql, place);
    deleteDocument(sql, place);
  }
}

function deleteDocument(sql: SqliteFile, place: DocumentPlace): void {
  for (const name of ['rockpool_document', 'rockpool_document_replaced', 'rockpool_document_edit'])
    sql.run(`DELETE FROM ${name} WHERE table_id = ? AND key = ? AND column_id = ?`, ...keyOf(place));
}
