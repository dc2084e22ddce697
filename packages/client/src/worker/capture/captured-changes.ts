import { cellValuesEqual, type BeforeGroup, type CellValue, type ChangeGroup, type ChangeKind } from '@rockpool/shared';
import type { CaptureTable } from './capture-table.ts';

/** The net effect of one transaction on the synced tables, with old values: `before[i]` belongs to `groups[i]`. */
export interface CapturedChanges {
  readonly groups: readonly ChangeGroup[];
  readonly before: readonly BeforeGroup[];
}

export const NO_CHANGES: CapturedChanges = { groups: [], before: [] };

interface OpenGroup {
  readonly tableId: number;
  readonly kind: ChangeKind;
  rowCount: number;
  readonly keys: CellValue[][];
  readonly columnIds: readonly number[];
  readonly values: CellValue[][];
  readonly beforeColumnIds: readonly number[];
  readonly beforeValues: CellValue[][];
}

const KIND_ORDER: readonly ChangeKind[] = ['delete', 'update', 'insert'];

/**
 * Collects changed rows into groups by table, kind and set of columns. Rows are arrays in the order of
 * `CaptureTable.columns`.
 *
 * `finish` returns deletes first, then updates, then inserts, so a unique value that moves to another row is free
 * before it is taken. The order of rows within a group has no meaning: sessions report them in hash order.
 */
export class ChangeCollector {
  private readonly groups: Map<string, OpenGroup> = new Map();

  insert(table: CaptureTable, after: readonly CellValue[]): void {
    const { valuePositions, valueColumnIds, omittedDefaults } = table;
    if (omittedDefaults.size > 0) return this.insertWithoutDefaults(table, after);
    const group = this.group(table, 'insert', valueColumnIds, []);
    appendKey(group, table, after);
    for (let i = 0; i < valuePositions.length; i++) appendTo(group.values, i, after[valuePositions[i] as number]);
  }

  /** Omits the columns that hold their default (CaptureTable.omittedDefaults). */
  private insertWithoutDefaults(table: CaptureTable, after: readonly CellValue[]): void {
    const { valuePositions, valueColumnIds, omittedDefaults } = table;
    const given = valuePositions.flatMap((position, index) => {
      const omitted = omittedDefaults.get(index);
      return omitted !== undefined && cellValuesEqual(omitted, after[position] as CellValue) ? [] : [index];
    });
    const group = this.group(
      table,
      'insert',
      given.map((index) => valueColumnIds[index] as number),
      [],
    );
    appendKey(group, table, after);
    for (const [i, index] of given.entries()) appendTo(group.values, i, after[valuePositions[index] as number]);
  }

  delete(table: CaptureTable, before: readonly CellValue[]): void {
    const group = this.group(table, 'delete', [], table.valueColumnIds);
    appendKey(group, table, before);
    for (let i = 0; i < table.valuePositions.length; i++)
      appendTo(group.beforeValues, i, before[table.valuePositions[i] as number]);
  }

  /** `after` is undefined for unchanged columns. The key is read from `before`. */
  update(
    table: CaptureTable,
    before: readonly (CellValue | undefined)[],
    after: readonly (CellValue | undefined)[],
  ): void {
    const columnIds: number[] = [];
    const positions: number[] = [];
    for (let i = 0; i < table.valuePositions.length; i++) {
      const position = table.valuePositions[i] as number;
      if (after[position] === undefined) continue;
      positions.push(position);
      columnIds.push(table.valueColumnIds[i] as number);
    }
    // Only columns outside the schema changed.
    if (columnIds.length === 0) return;
    const group = this.group(table, 'update', columnIds, columnIds);
    appendKey(group, table, before);
    positions.forEach((position, i) => {
      appendTo(group.values, i, after[position]);
      appendTo(group.beforeValues, i, before[position]);
    });
  }

  finish(): CapturedChanges {
    const ordered = KIND_ORDER.flatMap((kind) => [...this.groups.values()].filter((group) => group.kind === kind));
    return {
      groups: ordered.map(({ tableId, kind, rowCount, keys, columnIds, values }) => ({
        tableId,
        kind,
        rowCount,
        keys,
        columnIds,
        values,
      })),
      before: ordered.map(({ beforeColumnIds, beforeValues }) => ({
        columnIds: beforeColumnIds,
        values: beforeValues,
      })),
    };
  }

  private group(
    table: CaptureTable,
    kind: ChangeKind,
    columnIds: readonly number[],
    beforeColumnIds: readonly number[],
  ): OpenGroup {
    const tableId = table.schema.id;
    const identity =
      kind === 'update' || columnIds.length < table.valueColumnIds.length
        ? `${tableId}:${kind}:${columnIds.join(',')}`
        : `${tableId}:${kind}`;
    let group = this.groups.get(identity);
    if (group === undefined) {
      const keys = table.keyPositions.map((): CellValue[] => []);
      const values = columnIds.map((): CellValue[] => []);
      const beforeValues = beforeColumnIds.map((): CellValue[] => []);
      group = { tableId, kind, rowCount: 0, keys, columnIds, values, beforeColumnIds, beforeValues };
      this.groups.set(identity, group);
    }
    group.rowCount++;
    return group;
  }
}

function appendKey(group: OpenGroup, table: CaptureTable, row: readonly (CellValue | undefined)[]): void {
  for (let k = 0; k < table.keyPositions.length; k++) appendTo(group.keys, k, row[table.keyPositions[k] as number]);
}

function appendTo(columns: CellValue[][], index: number, value: CellValue | undefined): void {
  if (value === undefined) throw new Error('a captured row lacks a value');
  (columns[index] as CellValue[]).push(value);
}
