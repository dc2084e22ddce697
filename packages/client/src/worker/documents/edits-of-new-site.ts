import { decodeChangesetBody, documentColumns, encodeChangesetBody, encodeKey, type CellValue, type ChangeGroup, type DocumentRule } from '@rockpool/shared';
import { documentText, editDocument, expandContent, isDocumentEdit, mergeEdit, parseJson, type Author } from '@rockpool/shared/document';
import type { Connection } from '../sqlite/connection.ts';
import type { DocumentTables } from './load-document-support.ts';

/** One document under pending edits: as this site made them so far, and as the new site makes them. */
interface Rewritten {
  readonly old: CellValue;
  readonly now: CellValue;
}

/**
 * Makes the pending edits of documents once more, under the name of a new site: under the old one another copy of this file may have made
 * others. Changesets from `firstOwn` on get new bodies (their hashes follow, see renumber.ts). Call it in the transaction that changes the site.
 */
export function rewriteEdits(connection: Connection, tables: DocumentTables, author: Author, firstOwn: number): void {
  const rewritten = new Map<string, Rewritten>();
  for (const [sequence, body] of connection.rows('SELECT sequence, body FROM rockpool_changelog WHERE sequence >= ? ORDER BY sequence', firstOwn)) {
    const changeset = decodeChangesetBody(body as Uint8Array);
    const groups = changeset.groups.map((group) => {
      const table = tables.get(group.tableId);
      return table === undefined ? group : rewriteGroup(connection, group, documentColumns(table), author, rewritten);
    });
    connection.run('UPDATE rockpool_changelog SET body = ? WHERE sequence = ?', encodeChangesetBody({ ...changeset, groups }), sequence as number);
  }
  for (const [place, { now }] of rewritten) {
    const [tableId, columnId, key] = JSON.parse(place) as [number, number, string];
    connection.run('UPDATE rockpool_document SET state = ? WHERE table_id = ? AND column_id = ? AND hex(key) = ?', now as Uint8Array, tableId, columnId, key);
  }
}

function rewriteGroup(connection: Connection, group: ChangeGroup, documents: ReadonlyMap<number, DocumentRule>, author: Author, rewritten: Map<string, Rewritten>): ChangeGroup {
  const values = group.values.map((column, index) => {
    const columnId = group.columnIds[index] as number;
    const rule = documents.get(columnId);
    if (rule === undefined) return column;
    return column.map((value, row) => {
      const key = group.keys.map((part) => part[row] as CellValue);
      const place = JSON.stringify([group.tableId, columnId, hexOf(encodeKey(key))]);
      if (!isDocumentEdit(value)) {
        const state = expandContent(value, rule);
        rewritten.set(place, { old: state, now: state });
        return value;
      }
      const known = rewritten.get(place) ?? baseOf(connection, group.tableId, key, columnId);
      if (known === null || known.old === null) return value;
      const old = mergeEdit(known.old, value);
      const { edit, state } = editDocument(known.now, parseJson(documentText(old), rule), rule, author);
      rewritten.set(place, { old, now: state });
      return edit;
    });
  });
  return { ...group, values };
}

/** The server's state under the first pending edit. */
function baseOf(connection: Connection, tableId: number, key: readonly CellValue[], columnId: number): Rewritten | null {
  const state = connection.value('SELECT value FROM rockpool_base WHERE table_id = ? AND key = ? AND column_id = ?', tableId, encodeKey(key), columnId);
  return state instanceof Uint8Array ? { old: state, now: state } : null;
}

function hexOf(bytes: Uint8Array): string {
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('').toUpperCase();
}
