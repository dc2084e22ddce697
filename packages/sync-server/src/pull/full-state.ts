import { encodeKey, quoteName, type CellValue, type ChangeGroup } from '@rockpool/shared';
import { withDocuments } from '../documents/document-store.ts';
import type { DatabaseFile } from '../store/database-file.ts';
import type { StoredTable } from '../sqlite/stored-table.ts';

/** Every row, for a reader that has none. Scans the tables without reading row versions. */
export function fullState(file: DatabaseFile): ChangeGroup[] {
  return [...file.tableById.values()].map((table) => wholeTable(file, table)).filter(({ rowCount }) => rowCount > 0);
}

function wholeTable(file: DatabaseFile, table: StoredTable): ChangeGroup {
  const keys = table.keys.map((): CellValue[] => []);
  const values = table.values.map((): CellValue[] => []);
  let rowCount = 0;
  const columns = [...table.keys, ...table.values].map(({ name }) => quoteName(name)).join(', ');
  for (const row of file.sql.rows(`SELECT ${columns} FROM ${quoteName(table.schema.name)}`)) {
    for (let k = 0; k < keys.length; k++) (keys[k] as CellValue[]).push(row[k] as CellValue);
    const cells = table.documents.size === 0 ? row.slice(keys.length) : cellsOf(file, table, row);
    for (let v = 0; v < values.length; v++) (values[v] as CellValue[]).push(cells[v] as CellValue);
    rowCount++;
  }
  return {
    tableId: table.schema.id,
    kind: 'insert',
    rowCount,
    keys,
    columnIds: table.values.map(({ id }) => id),
    values,
  };
}

/** The cells of a row, with the states of documents instead of their JSON. */
function cellsOf(file: DatabaseFile, table: StoredTable, row: readonly CellValue[]): CellValue[] {
  const key = row.slice(0, table.keys.length);
  const cells = new Map(table.values.map((column, v) => [column.id, row[key.length + v] as CellValue]));
  const values = withDocuments(file.sql, table, encodeKey(key), cells);
  return table.values.map(({ id }) => values.get(id) ?? null);
}
