import {
  documentColumns,
  encodeKey,
  type BeforeGroup,
  type CellValue,
  type ChangeGroup,
  type DocumentRule,
  type TableSchema,
} from '@rockpool/shared';
import {
  diffJson,
  editDocument,
  encodeDocumentCell,
  PathRule,
  readStoredJson,
  type Author,
} from '@rockpool/shared/document';
import type { Connection } from '../sqlite/connection.ts';
import { DocumentTable, newState } from './document-table.ts';
import { DOCUMENT_EDIT_BASE } from './document-author.ts';

interface Captured {
  readonly group: ChangeGroup;
  readonly before: BeforeGroup;
}

/**
 * Converts a transaction's changes of documents to the form in which they merge, and stores the new states.
 *
 * - An insert, or an update from or to NULL, carries the content.
 * - Any other update carries the edit. Its old value is the change of the JSON, which is about as large as the edit.
 * - A delete carries states as old values, so that the row can be restored.
 *
 * The first pending update or delete of a document stores the server's state in rockpool_base. A merge cannot be
 * reverted, and edits of a document that was inserted in its place must not be applied to the server's document.
 */
export function captureDocuments(
  connection: Connection,
  table: TableSchema,
  author: Author,
  { group, before }: Captured,
): Captured {
  const documents = documentColumns(table);
  const states = new DocumentTable(connection, table.id, documents);
  const keyOf = (row: number): CellValue[] => group.keys.map((part) => part[row] as CellValue);
  if (group.kind === 'insert')
    return { group: { ...group, values: mapDocuments(group, documents, (value) => toContent(value)) }, before };
  if (group.kind === 'delete') {
    const values = mapDocuments(before, documents, (text, columnId, row) => {
      const key = keyOf(row);
      keepBase(
        connection,
        table,
        key,
        columnId,
        states.read(key, columnId, () => text),
      );
      return states.readWhole(key, columnId, () => text);
    });
    for (let row = 0; row < group.rowCount; row++) states.remove(keyOf(row));
    states.finish();
    return { group, before: { ...before, values } };
  }
  const changes = before.values.map((column) => [...column]);
  const values = mapDocuments(group, documents, (text, columnId, row, index) => {
    const rule = documents.get(columnId) as DocumentRule;
    const old = before.values[index]?.[row] ?? null;
    const key = keyOf(row);
    const isEdited = typeof text === 'string' && typeof old === 'string';
    const state = isEdited ? states.readToEdit(key, columnId, () => old) : states.read(key, columnId, () => old);
    keepBase(connection, table, key, columnId, state);
    if (!isEdited) {
      states.write(key, columnId, newState(rule, text));
      return toContent(text);
    }
    const [from, to] = [readStoredJson(old, rule), readStoredJson(text, rule)];
    (changes[index] as CellValue[])[row] = JSON.stringify(diffJson(from, to, PathRule.root(rule)));
    const edited = editDocument(state, to, rule, author, states.readBase);
    states.writeEdited(key, columnId, edited.state);
    return edited.edit;
  });
  states.finish();
  return { group: { ...group, values }, before: { ...before, values: changes } };
}

type Mapping = (value: CellValue, columnId: number, row: number, index: number) => CellValue;

function mapDocuments(
  { columnIds, values }: BeforeGroup,
  documents: ReadonlyMap<number, DocumentRule>,
  mapping: Mapping,
): (readonly CellValue[])[] {
  return values.map((column, index) => {
    const columnId = columnIds[index] as number;
    return documents.has(columnId) ? column.map((value, row) => mapping(value, columnId, row, index)) : column;
  });
}

function toContent(text: CellValue): CellValue {
  return typeof text === 'string' ? encodeDocumentCell({ kind: 'content', json: text }) : null;
}

function keepBase(
  connection: Connection,
  table: TableSchema,
  key: readonly CellValue[],
  columnId: number,
  state: CellValue,
): void {
  connection.run(
    'INSERT OR IGNORE INTO rockpool_base (table_id, key, column_id, value, base) VALUES (?, ?, ?, ?, ?)',
    table.id,
    encodeKey(key),
    columnId,
    state as Uint8Array | null,
    DOCUMENT_EDIT_BASE,
  );
}
