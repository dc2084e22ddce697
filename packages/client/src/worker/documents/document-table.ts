import { cellValuesEqual, encodeKey, type CellValue, type DocumentRule } from '@rockpool/shared';
import {
  baseIdOf,
  createDocument,
  documentText,
  isSameDocument,
  operationsOf,
  parseJson,
  toLayers,
  wholeState,
  type ReadBase,
} from '@rockpool/shared/document';
import { Meta } from '../database/meta.ts';
import type { Connection } from '../sqlite/connection.ts';
import { baseReader, deleteUnusedBases, writeBase, type DocumentPlace } from './document-bases.ts';
import { beginGeneration, documentAuthor } from './document-author.ts';

/**
 * rockpool_document: the states of one table's documents, as the visible rows show them. A document that nobody has
 * edited has no line: its state follows from its JSON. Where a state goes, or gives way to one of another document or
 * to one that lacks edits made here, a new generation of edits begins.
 *
 * The state of a large document that is edited stands on a base of its own (document-bases.ts), so that an edit writes
 * little more than itself.
 */
export class DocumentTable {
  readonly readBase: ReadBase;
  private readonly connection: Connection;
  private readonly tableId: number;
  private readonly documents: ReadonlyMap<number, DocumentRule>;
  /** Where bases may have lost their name. */
  private readonly changed: DocumentPlace[] = [];

  /** `documents`: the rules of the table's document columns, by id. */
  constructor(connection: Connection, tableId: number, documents: ReadonlyMap<number, DocumentRule>) {
    this.connection = connection;
    this.readBase = baseReader(connection);
    this.tableId = tableId;
    this.documents = documents;
  }

  /**
   * The state of a document whose column holds `text()`; null where it holds NULL. Throws `document-invalid` for text
   * that is no JSON.
   */
  read(key: readonly CellValue[], columnId: number, text: () => CellValue): CellValue {
    return this.stored(this.placeOf(key, columnId)) ?? newState(this.documents.get(columnId) as DocumentRule, text());
  }

  /** The same for a document that is about to be edited. */
  readToEdit(key: readonly CellValue[], columnId: number, text: () => CellValue): CellValue {
    const state = this.read(key, columnId, text);
    if (state === null) return null;
    const place = this.placeOf(key, columnId);
    const onBase = this.onBase(place, state as Uint8Array);
    if (onBase !== state) this.put(place, onBase);
    return onBase;
  }

  /** The state by itself, for where it has to stand alone. */
  readWhole(key: readonly CellValue[], columnId: number, text: () => CellValue): CellValue {
    return wholeState(this.read(key, columnId, text), this.readBase);
  }

  /** Puts states where a row read from its table has their JSON. */
  withStates(key: readonly CellValue[], values: Map<number, CellValue>): Map<number, CellValue> {
    for (const columnId of this.documents.keys())
      values.set(
        columnId,
        this.read(key, columnId, () => values.get(columnId) ?? null),
      );
    return values;
  }

  /**
   * Stores the states among the values of a row, and returns the values as the table of the app has them: JSON in their
   * places.
   */
  store(key: readonly CellValue[], columnIds: readonly number[], values: readonly CellValue[]): readonly CellValue[] {
    return values.map((value, index) => {
      const columnId = columnIds[index] as number;
      if (!this.documents.has(columnId)) return value;
      this.write(key, columnId, value);
      return value === null ? null : documentText(value, this.readBase);
    });
  }

  /**
   * The same for the state after an edit that is captured. A new base goes where the old one was: no state that is
   * written later in the transaction stands on that one, and the file does not grow by both.
   */
  writeEdited(key: readonly CellValue[], columnId: number, state: Uint8Array): void {
    const layers = toLayers(state);
    const place = this.placeOf(key, columnId);
    if (layers === null || this.stored(place) === undefined) return this.write(key, columnId, state);
    this.put(place, layers.state);
    deleteUnusedBases(this.connection, place);
    writeBase(this.connection, place, layers.baseId, layers.base);
  }

  write(key: readonly CellValue[], columnId: number, state: CellValue): void {
    if (state === null) return this.removeColumn(key, columnId);
    const place = this.placeOf(key, columnId);
    const stored = this.stored(place);
    if (stored !== undefined && this.lacksOwnEdits(stored, state)) beginGeneration(new Meta(this.connection));
    this.put(place, stored === undefined ? (state as Uint8Array) : this.onBase(place, state as Uint8Array));
  }

  /** All documents of a row that goes. */
  remove(key: readonly CellValue[]): void {
    for (const columnId of this.documents.keys()) this.removeColumn(key, columnId);
  }

  /** Has the documents of a row looked at in the end, though nothing of it is written here. */
  scheduleCleanup(key: readonly CellValue[]): void {
    for (const columnId of this.documents.keys()) this.changed.push(this.placeOf(key, columnId));
  }

  /** Forgets the bases that are no longer needed. To be called in the end: what is written later may stand on them. */
  finish(): void {
    for (const place of this.changed.splice(0)) deleteUnusedBases(this.connection, place);
  }

  private stored({ tableId, keyBytes, columnId }: DocumentPlace): Uint8Array | undefined {
    return this.connection.value(
      'SELECT state FROM rockpool_document WHERE table_id = ? AND key = ? AND column_id = ?',
      tableId,
      keyBytes,
      columnId,
    ) as Uint8Array | undefined;
  }

  /** A document that was removed and made again with the same content is the same one, and has none of the edits. */
  private lacksOwnEdits(before: CellValue, after: CellValue): boolean {
    if (!isSameDocument(before, after)) return true;
    // What stands on one base only grows, unless an edit is refused or masked, which begins a generation by itself.
    if (baseIdOf(after) !== null && cellValuesEqual(baseIdOf(before), baseIdOf(after))) return false;
    const author = documentAuthor(new Meta(this.connection));
    return operationsOf(after, author, this.readBase) < operationsOf(before, author, this.readBase);
  }

  private onBase(place: DocumentPlace, state: Uint8Array): Uint8Array {
    const layers = toLayers(state);
    if (layers === null) return state;
    writeBase(this.connection, place, layers.baseId, layers.base);
    this.changed.push(place);
    return layers.state;
  }

  private put({ tableId, keyBytes, columnId }: DocumentPlace, state: Uint8Array): void {
    this.connection.run(
      'INSERT INTO rockpool_document (table_id, key, column_id, state) VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET state = excluded.state',
      tableId,
      keyBytes,
      columnId,
      state,
    );
  }

  private removeColumn(key: readonly CellValue[], columnId: number): void {
    const place = this.placeOf(key, columnId);
    this.connection.run(
      'DELETE FROM rockpool_document WHERE table_id = ? AND key = ? AND column_id = ?',
      this.tableId,
      place.keyBytes,
      columnId,
    );
    if (this.connection.changes === 0) return;
    this.changed.push(place);
    beginGeneration(new Meta(this.connection));
  }

  private placeOf(key: readonly CellValue[], columnId: number): DocumentPlace {
    return { tableId: this.tableId, keyBytes: encodeKey(key), columnId };
  }
}

function newState(rule: DocumentRule, text: CellValue): CellValue {
  return typeof text === 'string' ? createDocument(parseJson(text, rule), rule) : null;
}
