import { encodeKey, type CellValue, type DocumentRule } from '@rockpool/shared';
import { createDocument, isSameDocument, parseJson } from '@rockpool/shared/document';
import { Meta } from '../database/meta.ts';
import type { Connection } from '../sqlite/connection.ts';
import { toColumnValue } from './column-value.ts';
import { beginGeneration } from './generation.ts';

/**
 * rockpool_document: the states of one table's documents, as the visible rows show them. A document that nobody has edited has no line: its
 * state follows from its JSON. Where a state goes or gives way to one of another document, a new generation of edits begins.
 */
export class DocumentTable {
  private readonly connection: Connection;
  private readonly tableId: number;
  private readonly documents: ReadonlyMap<number, DocumentRule>;

  /** `documents`: the rules of the table's document columns, by id. */
  constructor(connection: Connection, tableId: number, documents: ReadonlyMap<number, DocumentRule>) {
    this.connection = connection;
    this.tableId = tableId;
    this.documents = documents;
  }

  /** The state of a document whose column holds `text()`; null where it holds NULL. Throws `document-invalid` for text that is no JSON. */
  read(key: readonly CellValue[], columnId: number, text: () => CellValue): CellValue {
    const stored = this.connection.value('SELECT state FROM rockpool_document WHERE table_id = ? AND key = ? AND column_id = ?', this.tableId, encodeKey(key), columnId);
    return stored instanceof Uint8Array ? stored : newState(this.documents.get(columnId) as DocumentRule, text());
  }

  /** Puts states where a row read from its table has their JSON. */
  withStates(key: readonly CellValue[], values: Map<number, CellValue>): Map<number, CellValue> {
    for (const columnId of this.documents.keys()) values.set(columnId, this.read(key, columnId, () => values.get(columnId) ?? null));
    return values;
  }

  /** Stores the states among the values of a row, and returns the values as the table of the app has them: JSON in their places. */
  store(key: readonly CellValue[], columnIds: readonly number[], values: readonly CellValue[]): readonly CellValue[] {
    return values.map((value, index) => {
      const columnId = columnIds[index] as number;
      if (this.documents.has(columnId)) this.write(key, columnId, value);
      return toColumnValue({ documents: this.documents }, columnId, value);
    });
  }

  write(key: readonly CellValue[], columnId: number, state: CellValue): void {
    if (state === null) return this.removeColumn(key, columnId);
    const stored = this.connection.value('SELECT state FROM rockpool_document WHERE table_id = ? AND key = ? AND column_id = ?', this.tableId, encodeKey(key), columnId);
    if (stored instanceof Uint8Array && !isSameDocument(stored, state as Uint8Array)) beginGeneration(new Meta(this.connection));
    this.connection.run(
      'INSERT INTO rockpool_document (table_id, key, column_id, state) VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET state = excluded.state',
      this.tableId,
      encodeKey(key),
      columnId,
      state as Uint8Array,
    );
  }

  /** All documents of a row that goes. */
  remove(key: readonly CellValue[]): void {
    for (const columnId of this.documents.keys()) this.removeColumn(key, columnId);
  }

  private removeColumn(key: readonly CellValue[], columnId: number): void {
    this.connection.run('DELETE FROM rockpool_document WHERE table_id = ? AND key = ? AND column_id = ?', this.tableId, encodeKey(key), columnId);
    if (this.connection.changes > 0) beginGeneration(new Meta(this.connection));
  }
}

function newState(rule: DocumentRule, text: CellValue): CellValue {
  return typeof text === 'string' ? createDocument(parseJson(text, rule), rule) : null;
}
