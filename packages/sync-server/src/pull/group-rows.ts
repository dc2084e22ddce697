import type { CellValue, ChangeGroup } from '@rockpool/shared';
import type { DocumentPlace } from '../documents/document-place.ts';
import { documentUpdate } from '../documents/document-edits.ts';
import type { DatabaseFile } from '../store/database-file.ts';
import type { RowKey } from '../store/row-store.ts';
import type { StoredTable } from '../sqlite/stored-table.ts';
import type { ChangedRows } from './changed-rows.ts';
import type { RowDelivery } from './row-delivery.ts';

interface OpenGroup {
  readonly table: StoredTable;
  readonly kind: ChangeGroup['kind'];
  readonly columnIds: readonly number[];
  readonly rows: RowKey[];
}

/** Groups rows by table, kind and set of columns: a delivery carries values column by column. */
export class RowGroups {
  private readonly file: DatabaseFile;
  private readonly changed: ChangedRows;
  private readonly from: number;
  private readonly groups = new Map<string, OpenGroup>();

  /** `from`: the cursor of the reader. */
  constructor(file: DatabaseFile, changed: ChangedRows, from: number) {
    this.file = file;
    this.changed = changed;
    this.from = from;
  }

  add(table: StoredTable, row: RowKey, delivery: RowDelivery): void {
    if (delivery === null) return;
    const columnIds =
      delivery.kind === 'insert' ? table.columnIds : delivery.kind === 'update' ? delivery.columnIds : [];
    this.groupFor(table, delivery.kind, columnIds).rows.push(row);
  }

  finish(): ChangeGroup[] {
    return [...this.groups.values()].map(({ table, kind, rows, columnIds }) => ({
      tableId: table.schema.id,
      kind,
      rowCount: rows.length,
      keys: table.keys.map((_, k) => rows.map(({ key }) => key[k] as CellValue)),
      columnIds,
      values: columnIds.length === 0 ? [] : this.readColumns({ table, kind, rows, columnIds }),
    }));
  }

  private readColumns({ table, kind, rows, columnIds }: OpenGroup): CellValue[][] {
    const values = this.changed.valuesOf(table, rows);
    return columnIds.map((columnId) =>
      rows.map(({ keyBytes }, i) =>
        this.deliveredValue({ table, keyBytes, columnId }, values[i]?.get(columnId) ?? null, kind),
      ),
    );
  }

  /** For a document that the reader has, returns only the edits that it lacks. */
  private deliveredValue(place: DocumentPlace, value: CellValue, kind: ChangeGroup['kind']): CellValue {
    if (kind !== 'update' || !place.table.documents.has(place.columnId)) return value;
    return documentUpdate(this.file.sql, place, value, this.from);
  }

  private groupFor(table: StoredTable, kind: ChangeGroup['kind'], columnIds: readonly number[]): OpenGroup {
    const name = `${table.schema.id}:${kind}:${columnIds.join()}`;
    const known = this.groups.get(name);
    if (known !== undefined) return known;
    const group: OpenGroup = { table, kind, columnIds, rows: [] };
    this.groups.set(name, group);
    return group;
  }
}
