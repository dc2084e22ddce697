import { cellValuesEqual, encodeKey, type CellValue, type DocumentRule } from '@rockpool/shared';
import {
  baseIdOf,
  createDocument,
  documentText,
  isSameDocument,
  operationsOf,
  parseJson,
  toLayers,
  completeState,
  type ReadBase,
} from '@rockpool/shared/document';
import { Meta } from '../file/meta.ts';
import type { Connection } from '../sqlite/connection.ts';
import { baseReader, deleteUnusedBases, writeBase, type DocumentPlace } from './document-bases.ts';
import { beginGeneration, documentAuthor } from './document-author.ts';

/**
 * rockpool_document: the document states of one table's visible rows. A document without edits has no entry, because
 * its state follows from its JSON. A new generation of edits begins when a state is removed, or replaced by that of a
 * different document or by one that lacks edits made here.
 *
 * The state of a large edited document is layered on a separate base (document-bases.ts), so that an edit writes little
 * more than itself.
 */
export class DocumentTable {
  readonly readBase: ReadBase;
  private readonly connection: Connection;
  private readonly tableId: number;
  private readonly documents: ReadonlyMap<number, DocumentRule>;
  /** Places whose bases may no longer be used. */
  private readonly changed: DocumentPlace[] = [];

  /** `documents`: the rules of the table's document columns, by id. */
  constructor(connection: Connection, tableId: number, documents: ReadonlyMap<number, DocumentRule>) {
    this.connection = connection;
    this.readBase = baseReader(connection);
    this.tableId = tableId;
    this.documents = documents;
  }

  /**
   * The state of a document whose column holds `text()`; null for NULL. Throws `document-invalid` for text that is not
   * JSON.
   */
  read(key: readonly CellValue[], columnId: number, text: () => CellValue): CellValue {
    return this.stored(this.placeOf(key, columnId)) ?? newState(this.documents.get(columnId) as DocumentRule, text());
  }

  /** The state of a document that is about to be edited, layered on a base if it is large. */
  readToEdit(key: readonly CellValue[], columnId: number, text: () => CellValue): CellValue {
    const state = this.read(key, columnId, text);
    if (state === null) return null;
    const place = this.placeOf(key, columnId);
    const onBase = this.onBase(place, state as Uint8Array);
    if (onBase !== state) this.put(place, onBase);
    return onBase;
  }

  /** The complete state, which refers to no base. */
  readWhole(key: readonly CellValue[], columnId: number, text: () => CellValue): CellValue {
    return completeState(this.read(key, columnId, text), this.readBase);
  }

  /** Replaces the JSON of documents, in a row read from its table, with their states. */
  withStates(key: readonly CellValue[], values: Map<number, CellValue>): Map<number, CellValue> {
    for (const columnId of this.documents.keys())
      values.set(
        columnId,
        this.read(key, columnId, () => values.get(columnId) ?? null),
      );
    return values;
  }

  /**
   * Stores the document states among a row's values. Returns the values for the app's table, with JSON instead of
   * states.
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
   * Stores the state after a captured edit. A new base replaces the old one at once, so that the file does not have to
   * hold both: no state that is written later in the transaction refers to the old base.
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

  /** Removes all documents of a deleted row. */
  remove(key: readonly CellValue[]): void {
    for (const columnId of this.documents.keys()) this.removeColumn(key, columnId);
  }

  /** Registers a row's documents so that `finish` checks their bases, even if this table does not write the row. */
  scheduleCleanup(key: readonly CellValue[]): void {
    for (const columnId of this.documents.keys()) this.changed.push(this.placeOf(key, columnId));
  }

  /** Deletes bases that are no longer used. Call it last, because later writes may refer to a base. */
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

  /** A document that was removed and inserted again with equal content has the same id, but none of the edits. */
  private lacksOwnEdits(before: CellValue, after: CellValue): boolean {
    if (!isSameDocument(before, after)) return true;
    // States on one base only grow, unless an edit is rejected or masked, which itself begins a generation.
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

/** The state of a document without edits, from its text; null for NULL. */
export function newState(rule: DocumentRule, text: CellValue): CellValue {
  return typeof text === 'string' ? createDocument(parseJson(text, rule), rule) : null;
}
