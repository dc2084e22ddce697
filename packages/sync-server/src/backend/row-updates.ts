import type { CellValue, ChangeGroup, ChangeKind } from '@rockpool/shared';
import { columnName, namedKey, type NamedRow } from '../merge/named-row.ts';
import type { DatabaseFile } from '../store/database-file.ts';
import { readColumnValues } from '../store/row-store.ts';

/** An update of one row: every column of a new row, otherwise the columns that changed. */
export interface RowUpdate {
  readonly table: string;
  readonly kind: ChangeKind;
  readonly key: NamedRow;
  readonly values: NamedRow;
}

export function toRowUpdates(groups: readonly ChangeGroup[], file: DatabaseFile): RowUpdate[] {
  return groups.flatMap(({ tableId, kind, rowCount, keys, columnIds, values }) => {
    const table = file.tableById.get(tableId);
    if (table === undefined) return [];
    return Array.from({ length: rowCount }, (_, row) => {
      const key = keys.map((part) => part[row] ?? null);
      // Reads the documents, because a delivery may contain only their edits, and a service has no document to which it
      // could apply them.
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
        values: Object.fromEntries(columnIds.map((columnId, c) => [columnName(table, columnId), valueOf(columnId, c)])),
      };
    });
  });
}
