import { decodeKey, type CellValue, type ChangeGroup } from '@rockpool/shared';
import type { DocumentPlace } from '../documents/document-place.ts';
import { documentNews } from '../documents/document-store.ts';
import type { DatabaseFile } from '../store/database-file.ts';
import { readRowValues } from '../store/row-store.ts';
import type { StoredTable } from '../store/stored-table.ts';
import type { RowDelivery } from './row-delivery.ts';

interface OpenGroup {
  readonly table: StoredTable;
  readonly kind: ChangeGroup['kind'];
  readonly columnIds: readonly number[];
  readonly keys: CellValue[][];
  readonly values: CellValue[][];
  rowCount: number;
}

/** Collects rows by table, kind and set of columns, so that a delivery carries them by column. */
export class RowGroups {
  private readonly file: DatabaseFile;
  private readonly from: number;
  private readonly groups = new Map<string, OpenGroup>();

  /** `from`: the watermark that the reader has applied. */
  constructor(file: DatabaseFile, from: number) {
    this.file = file;
    this.from = from;
  }

  add(table: StoredTable, keyBytes: Uint8Array, delivery: RowDelivery): void {
    if (delivery === null) return;
    const key = decodeKey(keyBytes);
    const columnIds = delivery.kind === 'insert' ? table.values.map(({ id }) => id) : delivery.kind === 'update' ? delivery.columnIds : [];
    const group = this.groupFor(table, delivery.kind, columnIds);
    key.forEach((part, k) => (group.keys[k] as CellValue[]).push(part));
    if (columnIds.length > 0) {
      const values = readRowValues(this.file, table, key, keyBytes);
      columnIds.forEach((columnId, c) => (group.values[c] as CellValue[]).push(this.toldValue({ table, keyBytes, columnId }, values.get(columnId) ?? null, delivery.kind)));
    }
    group.rowCount++;
  }

  finish(): ChangeGroup[] {
    return [...this.groups.values()].map(({ table, kind, rowCount, keys, columnIds, values }) => ({ tableId: table.schema.id, kind, rowCount, keys, columnIds, values }));
  }

  /** Of a document that the reader has, only what is new in it. */
  private toldValue(place: DocumentPlace, value: CellValue, kind: ChangeGroup['kind']): CellValue {
    if (kind !== 'update' || !place.table.documents.has(place.columnId)) return value;
    return documentNews(this.file.sql, place, value, this.from);
  }

  private groupFor(table: StoredTable, kind: ChangeGroup['kind'], columnIds: readonly number[]): OpenGroup {
    const name = `${table.schema.id}:${kind}:${columnIds.join()}`;
    const known = this.groups.get(name);
    if (known !== undefined) return known;
    const group: OpenGroup = { table, kind, columnIds, keys: table.keys.map(() => []), values: columnIds.map(() => []), rowCount: 0 };
    this.groups.set(name, group);
    return group;
  }
}
