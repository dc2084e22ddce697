import { auditedColumnIds, auditSliceSql, keyToString, type CellValue, type TableSchema } from '@rockpool/shared';
import { CellBaseTable } from '../apply/cell-base-table.ts';
import { rowId, type PendingIndex, type RowRef } from '../apply/pending-index.ts';
import { serverRowBeneath } from '../apply/row-state.ts';
import { RowWriter } from '../apply/row-writer.ts';
import type { DocumentColumns } from '../documents/document-columns.ts';
import { documentSupport } from '../documents/load-document-support.ts';
import type { Connection } from '../sqlite/connection.ts';

/** A row as the server has it, without pending changes. */
export interface ServerRow {
  readonly key: readonly CellValue[];
  /** In the order of `auditedColumnIds`. Documents as JSON. */
  readonly cells: readonly CellValue[];
}

/**
 * All rows of a table as the server has them, in slices between which other work may run, but nothing may be committed.
 * Rows without pending changes come first, then the rows under pending changes.
 */
export function* serverRowSlices(
  connection: Connection,
  table: TableSchema,
  pending: PendingIndex,
): Generator<readonly ServerRow[]> {
  const refs = pendingRefs(table, pending);
  for (let after: readonly CellValue[] | null = null; ;) {
    const rows = readSlice(connection, table, after);
    const last = rows.at(-1);
    if (last === undefined) break;
    after = last.key;
    yield refs.size === 0
      ? rows
      : rows.filter(({ key }) => !refs.has(rowId({ tableId: table.id, key, keyText: keyToString(key) })));
  }
  if (refs.size > 0) yield rowsUnderPending(connection, table, pending, [...refs.values()]);
}

function pendingRefs(table: TableSchema, pending: PendingIndex): Map<string, RowRef> {
  const refs = new Map<string, RowRef>();
  for (const sequence of pending.sequences) {
    for (const ref of pending.rowsOf(sequence)) if (ref.tableId === table.id) refs.set(rowId(ref), ref);
  }
  return refs;
}

function readSlice(connection: Connection, table: TableSchema, after: readonly CellValue[] | null): ServerRow[] {
  const statement = connection.prepare(auditSliceSql(table, after === null));
  const keyCount = table.primaryKey.length;
  const cellCount = auditedColumnIds(table).length;
  const rows: ServerRow[] = [];
  try {
    after?.forEach((part, index) => statement.bindCell(index + 1, part));
    while (statement.step()) {
      const key = Array.from({ length: keyCount }, (_, index) => statement.readCell(index));
      rows.push({ key, cells: Array.from({ length: cellCount }, (_, index) => statement.readCell(keyCount + index)) });
    }
  } finally {
    statement.release();
  }
  return rows;
}

function rowsUnderPending(
  connection: Connection,
  table: TableSchema,
  pending: PendingIndex,
  refs: readonly RowRef[],
): ServerRow[] {
  const writer = new RowWriter(connection, table);
  const cellBaseTable = new CellBaseTable(connection);
  const columnIds = auditedColumnIds(table);
  try {
    return refs.flatMap((ref) => {
      const covered = new Map([...cellBaseTable.read(ref)].map(([columnId, { value }]) => [columnId, value]));
      const shown = pending.changesOf(ref).filter(({ sequence }) => !pending.masked.has(sequence));
      const { exists, values } = serverRowBeneath(writer.read(ref.key), shown, covered, writer.columns);
      return exists
        ? [
            {
              key: ref.key,
              cells: columnIds.map((columnId) => toColumnValue(writer.columns, columnId, values.get(columnId) ?? null)),
            },
          ]
        : [];
    });
  } finally {
    writer.release();
  }
}

/** Converts a value of a row state to what the app's column stores: JSON for a document, else the value itself. */
export function toColumnValue({ documents, readBase }: DocumentColumns, columnId: number, value: CellValue): CellValue {
  return value === null || !documents.has(columnId) ? value : documentSupport().documentText(value, readBase);
}
