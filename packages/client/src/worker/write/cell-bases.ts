import { encodeKey, EXISTENCE_COLUMN_ID, type CellValue, type ChangeGroup, type CellBase } from '@rockpool/shared';
import { CellBaseTable } from '../apply/cell-base-table.ts';
import { DOCUMENT_EDIT_BASE } from '../documents/document-author.ts';
import type { Connection } from '../sqlite/connection.ts';

/**
 * The cell bases of these changes: a cell base for each cell whose newer server value is covered by an earlier pending
 * write. The author never saw that value, so the cursor is too new a base for the cell. A delete touches the whole row
 * and takes the oldest cell base of the row.
 */
export function findCellBases(connection: Connection, groups: readonly ChangeGroup[]): CellBase[] {
  if (new CellBaseTable(connection).isEmpty()) return [];
  const cellBases: CellBase[] = [];
  for (const group of groups) {
    for (let row = 0; row < group.rowCount; row++) {
      const key = group.keys.map((part) => part[row] as CellValue);
      const covered = connection.rows(
        'SELECT column_id, base FROM rockpool_base WHERE table_id = ? AND key = ? AND base <> ?',
        group.tableId,
        encodeKey(key),
        DOCUMENT_EDIT_BASE,
      ) as [number, number][];
      if (covered.length === 0) continue;
      if (group.kind === 'delete') {
        cellBases.push({
          tableId: group.tableId,
          key,
          columnId: EXISTENCE_COLUMN_ID,
          base: Math.min(...covered.map(([, base]) => base)),
        });
        continue;
      }
      for (const [columnId, base] of covered) {
        if (columnId === EXISTENCE_COLUMN_ID || group.columnIds.includes(columnId))
          cellBases.push({ tableId: group.tableId, key, columnId, base });
      }
    }
  }
  return cellBases;
}
