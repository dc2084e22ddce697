import { documentColumns, encodeKey, type CellValue, type DocumentRule, type TableSchema } from '../../packages/shared/src/index.ts';
import { createDocument, parseJson } from '../../packages/shared/src/document/index.ts';
import { documentStateHash } from '../../packages/shared/src/testing/document-state-hash.ts';

/** Runs a query for one value. */
export type AskForValue = (sql: string, ...params: (bigint | number | Uint8Array | string)[]) => CellValue;

/** One line for each row of a table with one document column, `content`, and a key of one text: a hash of the document's state. On clients and on the server. */
export function documentStates(table: TableSchema, ids: readonly string[], ask: AskForValue): string {
  const [[columnId, rule] = [0, undefined]] = documentColumns(table);
  const lineOf = (id: string): string => {
    const text = ask(`SELECT content FROM ${table.name} WHERE id = ?`, id);
    if (typeof text !== 'string') return 'no document';
    const stored = ask('SELECT state FROM rockpool_document WHERE table_id = ? AND key = ? AND column_id = ?', BigInt(table.id), encodeKey([id]), BigInt(columnId));
    return documentStateHash(stored instanceof Uint8Array ? stored : createDocument(parseJson(text, rule as DocumentRule), rule as DocumentRule));
  };
  return ids.map((id) => `${id} ${lineOf(id)}`).join('\n');
}
