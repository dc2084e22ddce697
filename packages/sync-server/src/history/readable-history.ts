import {
  decodeKey,
  type CellValue,
  type ChangeGroup,
  type ChangeKind,
  type HistoryPage,
  type RowAtVersion,
  type StoredRowVersion,
} from '@rockpool/shared';
import type { DatabaseFile } from '../store/database-file.ts';
import { readableGroups, type ReadableRows } from '../store/read-filter.ts';
import { versionGone, type RowAtVersionRequest, type RowOfHistory } from './read-history.ts';

/**
 * Omits columns that the principal may not read, and versions whose values before or after are not readable. A
 * principal that may read every row gets the page itself.
 */
export function readablePage(
  file: DatabaseFile,
  row: RowOfHistory,
  page: HistoryPage,
  rows: ReadableRows,
): HistoryPage {
  if (rows === 'everything') return page;
  const versions = page.versions.flatMap((version): StoredRowVersion[] => {
    const valuesOf = (side: 'before' | 'after'): Map<number, CellValue> =>
      new Map(version.changes.map(({ columnId, values }) => [columnId, values?.[side] ?? null]));
    const readable: (ReadonlySet<number> | null)[] = [];
    if (version.kind !== 'delete') readable.push(readableColumns(file, row, version.kind, valuesOf('after'), rows));
    if (version.kind !== 'insert') readable.push(readableColumns(file, row, 'update', valuesOf('before'), rows));
    if (readable.includes(null)) return [];
    return [
      { ...version, changes: version.changes.filter(({ columnId }) => readable.every((ids) => ids?.has(columnId))) },
    ];
  });
  return { ...page, versions };
}

/** Throws `history-version-gone` for a row that the principal may not read. */
export function readableRow(
  file: DatabaseFile,
  request: RowAtVersionRequest,
  row: RowAtVersion,
  rows: ReadableRows,
): RowAtVersion {
  if (row === null || rows === 'everything') return row;
  const readable = readableColumns(file, request, 'insert', row, rows);
  if (readable === null) throw versionGone(request, null);
  return new Map([...row].filter(([columnId]) => readable.has(columnId)));
}

/** Null if the filter omits the row. */
function readableColumns(
  file: DatabaseFile,
  { table, key }: RowOfHistory,
  kind: ChangeKind,
  values: ReadonlyMap<number, CellValue>,
  rows: ReadableRows,
): ReadonlySet<number> | null {
  const group: ChangeGroup = {
    tableId: file.tableByName.get(table)?.schema.id ?? 0,
    kind,
    rowCount: 1,
    keys: decodeKey(key).map((part) => [part]),
    columnIds: [...values.keys()],
    values: [...values.values()].map((value) => [value]),
  };
  const [readable] = readableGroups([group], { rows, schema: null });
  return readable === undefined || readable.rowCount === 0 ? null : new Set(readable.columnIds);
}
