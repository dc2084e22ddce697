import { encodeKey, EXISTENCE_COLUMN_ID, type CellValue, type ChangeGroup, type CellBase } from '@rockpool/shared';
import type { UnseenColumns } from '../file/unseen-columns.ts';
import { CellBaseTable } from '../apply/cell-base-table.ts';
import { DOCUMENT_EDIT_BASE } from '../documents/document-author.ts';
import type { Connection } from '../sqlite/connection.ts';

/**
 * The cell bases of these changes: a cell base for each cell whose newer server value is covered by an earlier pending
 * write. The author never saw that value, so the cursor would be too new as a base for the cell. A delete has a cell
 * base for each covered cell of its row. For the row itself the cursor is the base, unless its existence is covered.
 */
export function findCellBases(
  connection: Connection,
  groups: readonly ChangeGroup[],
  unseen: UnseenColumns,
): CellBase[] {
  const cellBases = unseenCellBases(groups, unseen);
  if (new CellBaseTable(connection).isEmpty()) return cellBases;
  for (const group of groups) {
    for (let row = 0; row < group.rowCount; row++) {
      const key = group.keys.map((part) => part[row] as CellValue);
      const covered = connection.rows(
        'SELECT column_id, base FROM rockpool_base WHERE table_id = ? AND key = ? AND base <> ?',
        group.tableId,
        encodeKey(key),
        DOCUMENT_EDIT_BASE,
      ) as [number, number][];
      for (const [columnId, base] of covered) {
        // A write of an unseen column has base 0, the lowest. A delete also deletes values that have not arrived.
        if (unseen.get(group.tableId)?.has(columnId) === true) continue;
        if (columnId === EXISTENCE_COLUMN_ID || group.kind === 'delete' || group.columnIds.includes(columnId))
          cellBases.push({ tableId: group.tableId, key, columnId, base });
      }
    }
  }
  return cellBases;
}

/**
 * The cell bases of inserts and updates of cells that look empty because the server's values were not delivered yet:
 * base 0.
 */
function unseenCellBases(groups: readonly ChangeGroup[], unseen: UnseenColumns): CellBase[] {
  if (unseen.size === 0) return [];
  return groups.flatMap(({ tableId, kind, keys, columnIds, rowCount }) => {
    const written = [EXISTENCE_COLUMN_ID, ...(kind === 'delete' ? [] : columnIds)];
    const columns = written.filter((columnId) => unseen.get(tableId)?.has(columnId) === true);
    return Array.from({ length: columns.length === 0 ? 0 : rowCount }, (_, row) => {
      const key = keys.map((part) => part[row] as CellValue);
      return columns.map((columnId) => ({ tableId, key, columnId, base: 0 }));
    }).flat();
  });
}
