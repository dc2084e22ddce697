import type { ReadBase } from '@rockpool/shared/document';
import type { Connection } from '../sqlite/connection.ts';

/*
 * rockpool_document_base: the bases of layered document states, for documents that this device has edited
 * (shared/document, layers). States in rockpool_document (the visible row) and in rockpool_base (the server's row
 * beneath) refer to them.
 */

/** The place of a document: table, row and column. */
export interface DocumentPlace {
  readonly tableId: number;
  readonly keyBytes: Uint8Array;
  readonly columnId: number;
}

export function baseReader(connection: Connection): ReadBase {
  return (baseId) => connection.value('SELECT yjs FROM rockpool_document_base WHERE id = ?', baseId) as Uint8Array;
}

export function writeBase(
  connection: Connection,
  { tableId, keyBytes, columnId }: DocumentPlace,
  baseId: Uint8Array,
  base: Uint8Array,
): void {
  connection.run(
    'INSERT OR IGNORE INTO rockpool_document_base (table_id, key, column_id, id, yjs) VALUES (?, ?, ?, ?, ?)',
    tableId,
    keyBytes,
    columnId,
    baseId,
    base,
  );
}

/**
 * A layered state starts with the byte 0x05, the document id (8 bytes) and the base id (16 bytes); see
 * shared/document/document-cell.ts. Text never equals bytes.
 */
const isReferencedIn = (table: string, column: string): string =>
  `EXISTS (SELECT 1 FROM ${table} AS named WHERE named.table_id = base.table_id AND named.key = base.key AND named.column_id = base.column_id
    AND substr(named.${column}, 1, 1) = x'05' AND substr(named.${column}, 10, 16) = base.id)`;

const DELETE_UNUSED_SQL = `DELETE FROM rockpool_document_base AS base WHERE NOT ${isReferencedIn('rockpool_document', 'state')} AND NOT ${isReferencedIn('rockpool_base', 'value')}`;

/** Deletes those bases of one document that no state refers to; without `place`, those of all documents. */
export function deleteUnusedBases(connection: Connection, place?: DocumentPlace): void {
  if (place === undefined) connection.run(DELETE_UNUSED_SQL);
  else
    connection.run(
      `${DELETE_UNUSED_SQL} AND base.table_id = ? AND base.key = ? AND base.column_id = ?`,
      place.tableId,
      place.keyBytes,
      place.columnId,
    );
}
