import type { Table } from '../file/table.ts';

/** The user's replacements for cells of single rows, by row number. The file itself does not change. */
export type Corrections = ReadonlyMap<number, readonly string[]>;

export function correctTable(table: Table, corrections: Corrections): Table {
  if (corrections.size === 0) return table;
  return { ...table, rows: table.rows.map((row) => ({ ...row, cells: corrections.get(row.rowNumber) ?? row.cells })) };
}
