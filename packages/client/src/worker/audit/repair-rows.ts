import {
  auditedColumnIds,
  cellValuesEqual,
  documentColumns,
  keyToString,
  TableFingerprint,
  type CellValue,
  type ChangeGroup,
  type DifferingTable,
  type TableSchema,
} from '@rockpool/shared';
import { updateMasked, type SyncProgress } from '../apply/apply-delivery.ts';
import { applyRows } from '../apply/apply-rows.ts';
import type { PendingIndex } from '../apply/pending-index.ts';
import { inApplyTransaction, type ApplyTransactionParts } from '../apply/apply-transaction.ts';
import { serverRowSlices, toColumnValue, type ServerRow } from './server-rows.ts';

export interface RepairParts extends ApplyTransactionParts {
  readonly tablesById: ReadonlyMap<number, TableSchema>;
  readonly pending: PendingIndex;
  readonly progress: SyncProgress;
}

/**
 * Replaces the rows of differing ranges with the server's, in one transaction. Pending changes stay on top. Returns the
 * number of rows that were replaced, added or removed, and the tables touched.
 */
export function repairRows(
  parts: RepairParts,
  table: TableSchema,
  rangeCount: number,
  { ranges }: DifferingTable,
  theirs: ChangeGroup | undefined,
): { readonly rowCount: number; readonly touched: ReadonlySet<string> } {
  const { connection, searchIndexes, tablesById, pending, progress } = parts;
  const { wrong, extra } = compare(parts, table, rangeCount, new Set(ranges), rowsOf(table, theirs));
  const groups = [toGroup(table, 'delete', extra), toGroup(table, 'insert', wrong)].filter(
    ({ rowCount }) => rowCount > 0,
  );
  const applied = inApplyTransaction({ connection, searchIndexes }, () => {
    const result = applyRows({ connection, tablesById, pending, outcomeKinds: new Map(), groups });
    updateMasked(progress, pending, result.masked, new Map());
    return result;
  });
  pending.setMasked(applied.masked.keys());
  return { rowCount: wrong.length + extra.length, touched: applied.touched };
}

function compare(
  { connection, pending }: RepairParts,
  table: TableSchema,
  rangeCount: number,
  ranges: ReadonlySet<number>,
  theirs: ReadonlyMap<string, ServerRow>,
): { wrong: ServerRow[]; extra: ServerRow[] } {
  const fingerprint = new TableFingerprint(table, rangeCount);
  const columns = { documents: documentColumns(table) };
  const columnIds = auditedColumnIds(table);
  const wrong = new Map(theirs);
  const extra: ServerRow[] = [];
  for (const slice of serverRowSlices(connection, table, pending)) {
    for (const mine of slice) {
      if (!ranges.has(fingerprint.rangeOfKey(mine.key))) continue;
      const name = keyToString(mine.key);
      const other = theirs.get(name);
      if (other === undefined) extra.push(mine);
      else if (
        other.cells.every((cell, index) =>
          cellValuesEqual(toColumnValue(columns, columnIds[index] as number, cell), mine.cells[index] ?? null),
        )
      )
        wrong.delete(name);
    }
  }
  return { wrong: [...wrong.values()], extra };
}

/** The rows of a response by key. Documents are states. */
function rowsOf(table: TableSchema, group: ChangeGroup | undefined): Map<string, ServerRow> {
  const rows = new Map<string, ServerRow>();
  if (group === undefined) return rows;
  const indexes = auditedColumnIds(table).map((columnId) => group.columnIds.indexOf(columnId));
  for (let row = 0; row < group.rowCount; row++) {
    const key = group.keys.map((part) => part[row] as CellValue);
    rows.set(keyToString(key), { key, cells: indexes.map((index) => group.values[index]?.[row] ?? null) });
  }
  return rows;
}

function toGroup(table: TableSchema, kind: 'insert' | 'delete', rows: readonly ServerRow[]): ChangeGroup {
  const columnIds = kind === 'insert' ? auditedColumnIds(table) : [];
  return {
    tableId: table.id,
    kind,
    rowCount: rows.length,
    keys: table.primaryKey.map((_, part) => rows.map(({ key }) => key[part] as CellValue)),
    columnIds,
    values: columnIds.map((_, column) => rows.map(({ cells }) => cells[column] ?? null)),
  };
}
