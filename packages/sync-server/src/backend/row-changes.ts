import type { CellValue, ChangeGroup, ChangeKind } from '@rockpool/shared';
import { toColumnValue } from '../documents/document-store.ts';
import type { MergedRow } from '../merge/merge-changeset.ts';
import type { DatabaseFile } from '../store/database-file.ts';
import { readColumnValues, type KnownRow } from '../store/row-store.ts';
import type { StoredTable } from '../sqlite/stored-table.ts';

/** A row by the names of its columns; a document is its JSON text. */
export type NamedRow = Readonly<Record<string, CellValue>>;

/** One row of a changeset, before and after it. Null: not there. */
export interface BackendRowChange {
  readonly table: string;
  readonly key: NamedRow;
  readonly before: NamedRow | null;
  readonly after: NamedRow | null;
}

/** News of one row: all of it where it is new, else the columns that changed. */
export interface RowUpdate {
  readonly table: string;
  readonly kind: ChangeKind;
  readonly key: NamedRow;
  readonly values: NamedRow;
}

export function toRowChange({ write: { table, key }, before, after }: MergedRow): BackendRowChange {
  return {
    table: table.schema.name,
    key: namedKey(table, key),
    before: toNamedRow(table, before),
    after: toNamedRow(table, after),
  };
}

export function toRowUpdates(groups: readonly ChangeGroup[], file: DatabaseFile): RowUpdate[] {
  return groups.flatMap(({ tableId, kind, rowCount, keys, columnIds, values }) => {
    const table = file.tableById.get(tableId);
    if (table === undefined) return [];
    return Array.from({ length: rowCount }, (_, row) => {
      const key = keys.map((part) => part[row] ?? null);
      // Of a document a delivery may say only what was edited in it: a service has nothing to put that into.
      const present =
        kind !== 'delete' && columnIds.some((columnId) => table.documents.has(columnId))
          ? readColumnValues(file, table, key)
          : null;
      const valueOf = (columnId: number, c: number): CellValue =>
        (present !== null && table.documents.has(columnId) ? present.get(columnId) : values[c]?.[row]) ?? null;
      return {
        table: table.schema.name,
        kind,
        key: namedKey(table, key),
        values: Object.fromEntries(columnIds.map((columnId, c) => [nameOf(table, columnId), valueOf(columnId, c)])),
      };
    });
  });
}

function toNamedRow(table: StoredTable, known: KnownRow | undefined): NamedRow | null {
  if (known === undefined || known.row.deleted !== null) return null;
  return Object.fromEntries(
    [...known.row.cells].map(([columnId, { value }]) => [
      nameOf(table, columnId),
      toColumnValue(table, columnId, value),
    ]),
  );
}

function namedKey(table: StoredTable, key: readonly CellValue[]): NamedRow {
  return Object.fromEntries(table.keys.map(({ name }, i) => [name, key[i] ?? null]));
}

function nameOf(table: StoredTable, columnId: number): string {
  return table.valueById.get(columnId)?.name ?? String(columnId);
}
