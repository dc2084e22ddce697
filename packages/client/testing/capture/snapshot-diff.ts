import { cellValuesEqual, keyToString, quoteName, type CellValue, type TableSchema } from '@rockpool/shared';
import { readCaptureTable } from '../../src/worker/capture/capture-table.ts';
import type { CapturedChanges } from '../../src/worker/capture/captured-changes.ts';
import type { Connection } from '../../src/worker/sqlite/connection.ts';

/** The change of one row: the columns outside the key, by column id. */
export interface RowDifference {
  readonly table: string;
  readonly kind: 'insert' | 'update' | 'delete';
  readonly before: Readonly<Record<number, CellValue>>;
  readonly after: Readonly<Record<number, CellValue>>;
}

/** Differences by table and key: two of them can be compared with toEqual. */
export type Differences = Readonly<Record<string, RowDifference>>;

type Snapshot = Map<string, Map<number, CellValue>>;

/** Reads all stored columns of all rows, exactly. */
export function takeSnapshot(connection: Connection, tables: readonly TableSchema[]): Map<string, Snapshot> {
  return new Map(tables.map((table) => [table.name, snapshotTable(connection, table)]));
}

function snapshotTable(connection: Connection, schema: TableSchema): Snapshot {
  const table = readCaptureTable(connection, schema);
  const statement = connection.prepare(
    `SELECT ${table.columns.map(({ name }) => quoteName(name)).join(', ')} FROM main.${quoteName(schema.name)}`,
  );
  const snapshot: Snapshot = new Map();
  while (statement.step()) {
    const cells = statement.readCells();
    const values = new Map<number, CellValue>();
    table.valuePositions.forEach((position, i) =>
      values.set(table.valueColumnIds[i] as number, cells[position] as CellValue),
    );
    snapshot.set(keyToString(table.keyPositions.map((position) => cells[position] as CellValue)), values);
  }
  statement.release();
  return snapshot;
}

export function diffSnapshots(before: Map<string, Snapshot>, after: Map<string, Snapshot>): Differences {
  const differences: Record<string, RowDifference> = {};
  for (const [table, rowsAfter] of after) {
    const rowsBefore = before.get(table) ?? new Map<string, Map<number, CellValue>>();
    for (const key of new Set([...rowsBefore.keys(), ...rowsAfter.keys()])) {
      const difference = diffRow(table, rowsBefore.get(key), rowsAfter.get(key));
      if (difference !== null) differences[`${table}/${key}`] = difference;
    }
  }
  return differences;
}

function diffRow(
  table: string,
  before: Map<number, CellValue> | undefined,
  after: Map<number, CellValue> | undefined,
): RowDifference | null {
  if (before === undefined) return { table, kind: 'insert', before: {}, after: Object.fromEntries(after ?? []) };
  if (after === undefined) return { table, kind: 'delete', before: Object.fromEntries(before), after: {} };
  const changed = [...after].filter(([id, value]) => !cellValuesEqual(value, before.get(id) ?? null));
  if (changed.length === 0) return null;
  return {
    table,
    kind: 'update',
    before: Object.fromEntries(changed.map(([id]) => [id, before.get(id) ?? null])),
    after: Object.fromEntries(changed),
  };
}

/** Captured changes in the same form. */
export function capturedDifferences(captured: CapturedChanges, tables: readonly TableSchema[]): Differences {
  const differences: Record<string, RowDifference> = {};
  captured.groups.forEach((group, g) => {
    const table = tables.find(({ id }) => id === group.tableId)?.name ?? '';
    const beforeGroup = captured.before[g];
    for (let r = 0; r < group.rowCount; r++) {
      const rowOf = (
        columnIds: readonly number[],
        values: readonly (readonly CellValue[])[],
      ): Record<number, CellValue> => Object.fromEntries(columnIds.map((id, c) => [id, values[c]?.[r] as CellValue]));
      const key = `${table}/${keyToString(group.keys.map((part) => part[r] as CellValue))}`;
      if (key in differences) throw new Error(`a change was captured twice: ${key}`);
      differences[key] = {
        table,
        kind: group.kind,
        before: beforeGroup === undefined ? {} : rowOf(beforeGroup.columnIds, beforeGroup.values),
        after: rowOf(group.columnIds, group.values),
      };
    }
  });
  return differences;
}
