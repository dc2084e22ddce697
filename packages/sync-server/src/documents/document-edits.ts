import { decodeDocumentCell, encodeDocumentCell } from '@rockpool/shared/document';
import type { CellValue } from '@rockpool/shared';
import type { SqliteFile } from '../sqlite/sqlite-file.ts';
import { rememberAuthorsOfEdits } from './document-authors.ts';
import { keyOf, type DocumentPlace } from './document-place.ts';

/*
 * rockpool_document_edit: the last edits of each document. A reader that has the document gets the edits since its
 * cursor if they are smaller than the state. A delivery to such a reader is therefore never larger than the edits that
 * the reader lacks.
 */

/** Minimum number of edits kept per document: the conflict log finds authors by them. */
const LEAST_KEPT = 64;

/**
 * Maximum number of edits kept. Beyond LEAST_KEPT, their bytes do not exceed the state's: a reader that lacks more gets
 * the state.
 */
const MOST_KEPT = 1024;

/**
 * Old edits are pruned once per this number of edits of a document, because pruning reads the sizes of all kept edits.
 */
const FORGET_EVERY = 32;

/** The number of edits of each document since its last pruning. */
const sinceForgotten = new WeakMap<SqliteFile, Map<string, number>>();

/**
 * Keeps an edit, a Yjs update. `stateBytes`: the size of the document's state. Returns the new watermark above which
 * every edit is kept, or null if it has not changed.
 */
export function keepEdit(
  sql: SqliteFile,
  place: DocumentPlace,
  watermark: number,
  update: Uint8Array,
  stateBytes: number,
): number | null {
  sql.run(
    'INSERT INTO rockpool_document_edit (table_id, key, column_id, watermark, yjs) VALUES (?, ?, ?, ?, ?)',
    ...keyOf(place),
    BigInt(watermark),
    update,
  );
  const counts = sinceForgotten.get(sql) ?? new Map<string, number>();
  sinceForgotten.set(sql, counts);
  const name = keyOf(place).join();
  const count = (counts.get(name) ?? 0) + 1;
  if (count < FORGET_EVERY) {
    counts.set(name, count);
    return null;
  }
  counts.delete(name);
  return forgetOldEdits(sql, place, stateBytes);
}

function forgetOldEdits(sql: SqliteFile, place: DocumentPlace, stateBytes: number): number | null {
  const edits = sql.all(
    'SELECT watermark, length(yjs) FROM rockpool_document_edit WHERE table_id = ? AND key = ? AND column_id = ? ORDER BY watermark DESC',
    ...keyOf(place),
  );
  let bytes = 0;
  const last = edits.find(([, length], index) =>
    (bytes += Number(length)) > stateBytes ? index >= LEAST_KEPT : index >= MOST_KEPT,
  )?.[0];
  if (last === undefined) return null;
  rememberAuthorsOfEdits(sql, place, Number(last));
  sql.run(
    'DELETE FROM rockpool_document_edit WHERE table_id = ? AND key = ? AND column_id = ? AND watermark <= ?',
    ...keyOf(place),
    last as bigint,
  );
  return Number(last);
}

/** Whether a site has edited a document above a watermark. Edits that are no longer kept do not count. */
export function hasEditedAbove(sql: SqliteFile, place: DocumentPlace, siteNumber: number, watermark: number): boolean {
  return (
    sql.get(
      'SELECT 1 FROM rockpool_document_edit JOIN rockpool_log USING (watermark) WHERE table_id = ? AND key = ? AND column_id = ? AND watermark > ? AND site_number = ? LIMIT 1',
      ...keyOf(place),
      BigInt(watermark),
      BigInt(siteNumber),
    ) !== undefined
  );
}

/**
 * The cell for a reader at watermark `from`: the edits since then, if they are kept and smaller than the state; else
 * the state.
 */
export function documentUpdate(sql: SqliteFile, place: DocumentPlace, state: CellValue, from: number): CellValue {
  if (state === null) return null;
  const editsAbove = sql.get(
    'SELECT edits_above FROM rockpool_document WHERE table_id = ? AND key = ? AND column_id = ?',
    ...keyOf(place),
  )?.[0];
  if (editsAbove === undefined || from < Number(editsAbove)) return state;
  const since = [...keyOf(place), BigInt(from)];
  const bytes =
    sql.get(
      'SELECT sum(length(yjs)) FROM rockpool_document_edit WHERE table_id = ? AND key = ? AND column_id = ? AND watermark > ?',
      ...since,
    )?.[0] ?? 0n;
  if (Number(bytes) > (state as Uint8Array).length) return state;
  const updates = sql
    .all(
      'SELECT yjs FROM rockpool_document_edit WHERE table_id = ? AND key = ? AND column_id = ? AND watermark > ? ORDER BY watermark',
      ...since,
    )
    .map(([update]) => update as Uint8Array);
  const { documentId } = decodeDocumentCell(state) as Extract<ReturnType<typeof decodeDocumentCell>, { kind: 'state' }>;
  return encodeDocumentCell({ kind: 'update', documentId, updates });
}
