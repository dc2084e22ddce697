import type { Table } from '../file/table.ts';

/** What a person wrote in place of the cells of single rows, by row number. The file stays as it is. */
export type Corrections = ReadonlyMap<number, readonly string[]>;

export function correctTable(table: Table, corrections: Corrections): Table {
  if (corrections.size === 0) return table;
  return { ...table, rows: table.rows.map((row) => ({ ...row, cells: corrections.get(row.rowNumber) ?? row.cells })) };
}
