import type { ReadBase } from '@rockpool/shared/document';
import type { Connection } from '../sqlite/connection.ts';

/*
 * rockpool_document_base: what the states of documents that were edited here stand on (shared/document, layers). A base
 * is named in rockpool_document, where the state is that the visible row shows, and in rockpool_base, where it is the
 * server's underneath.
 */

/** Where a document is. */
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

/** Layers begin with a 5, 8 bytes of the document's id, and 16 of the base's (shared/document/document-cell.ts). */
const isReferencedIn = (table: string, column: string): string =>
  `EXISTS (SELECT 1 FROM ${table} AS named WHERE named.table_id = base.table_id AND named.key = base.key AND named.column_id = base.column_id
    AND typeof(named.${column}) = 'blob' AND substr(named.${column}, 1, 1) = x'05' AND substr(named.${column}, 10, 16) = base.id)`;

const DELETE_UNUSED_SQL = `DELETE FROM rockpool_document_base AS base WHERE NOT ${isReferencedIn('rockpool_document', 'state')} AND NOT ${isReferencedIn('rockpool_base', 'value')}`;

/** Forgets the bases of one document that no state names any more; without a place those of all documents. */
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
