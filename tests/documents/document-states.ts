import { documentColumns, encodeKey, type CellValue, type DocumentRule, type TableSchema } from '#shared/index.ts';
import {
  createDocument,
  decodeDocumentCell,
  encodeDocumentCell,
  mergeDelivered,
  parseJson,
} from '#shared/document/index.ts';
import { documentStateHash } from '#shared/testing/document-state-hash.ts';

/** Runs a query for one value. */
export type AskForValue = (sql: string, ...params: (bigint | number | Uint8Array | string)[]) => CellValue;

/**
 * One line per row of a table with one document column, `content`, and one text key: a hash of the document's state.
 * Works on clients and on the server.
 */
export function documentStates(table: TableSchema, ids: readonly string[], ask: AskForValue): string {
  const [[columnId, rule] = [0, undefined]] = documentColumns(table);
  const lineOf = (id: string): string => {
    const text = ask(`SELECT content FROM ${table.name} WHERE id = ?`, id);
    if (typeof text !== 'string') return 'no document';
    const stored = ask(
      'SELECT state FROM rockpool_document WHERE table_id = ? AND key = ? AND column_id = ?',
      BigInt(table.id),
      encodeKey([id]),
      BigInt(columnId),
    );
    return documentStateHash(
      stored instanceof Uint8Array
        ? asStored(stored, ask)
        : createDocument(parseJson(text, rule as DocumentRule), rule as DocumentRule),
    );
  };
  return ids.map((id) => `${id} ${lineOf(id)}`).join('\n');
}

/** Uses only stored data, not open documents. */
function asStored(state: Uint8Array, ask: AskForValue): CellValue {
  const cell = decodeDocumentCell(state);
  if (cell.kind !== 'layers') return state;
  const update = ask('SELECT yjs FROM rockpool_document_base WHERE id = ?', cell.baseId) as Uint8Array;
  const { documentId, updates } = cell;
  return mergeDelivered(
    encodeDocumentCell({ kind: 'state', documentId, update }),
    encodeDocumentCell({ kind: 'update', documentId, updates }),
  );
}
