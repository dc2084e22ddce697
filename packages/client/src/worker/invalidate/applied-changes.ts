import {
  cellValuesEqual,
  keyMatchSql,
  quoteName,
  type BeforeGroup,
  type CellValue,
  type ChangeGroup,
  type TableSchema,
} from '@rockpool/shared';
import { lookupKey } from '../../rpc/lookup-key.ts';
import type { TableChange } from '../../rpc/query-dependencies.ts';
import type { Connection } from '../sqlite/connection.ts';
import { MAX_NAMED_ROWS, tableChanges, type LookupsByTable, type TableLookups } from './table-changes.ts';

/** A row that was written, before and after. */
export interface WrittenRow {
  readonly writer: { readonly table: TableSchema };
  readonly key: readonly CellValue[];
  readonly before: WrittenState;
  readonly after: WrittenState;
}

interface WrittenState {
  readonly exists: boolean;
  /** Cells by column id. */
  readonly values: ReadonlyMap<number, CellValue>;
}

/**
 * Describes the changes of a delivery's groups for live queries. Call it before writing the groups: it reads the old
 * values, by which queries found the rows.
 */
export function changesOfGroups(
  connection: Connection,
  lookups: LookupsByTable,
  groups: readonly ChangeGroup[],
): TableChange[] {
  const before = groups.map((group): BeforeGroup => {
    const table = lookups.get(group.tableId);
    return table === undefined || group.rowCount > MAX_NAMED_ROWS
      ? { columnIds: [], values: [] }
      : oldValues(connection, table, group);
  });
  return tableChanges(connection, lookups, { groups, before });
}

function oldValues(connection: Connection, { table, valueColumns }: TableLookups, group: ChangeGroup): BeforeGroup {
  const columnIds = valueColumns.map(({ id }) => id);
  const values = columnIds.map((): CellValue[] => []);
  if (columnIds.length === 0) return { columnIds, values };
  const statement = connection.prepare(
    `SELECT ${valueColumns.map(({ name }) => quoteName(name)).join(', ')} FROM main.${quoteName(table.name)} WHERE ${keyMatchSql(table)}`,
  );
  try {
    for (let row = 0; row < group.rowCount; row++) {
      group.keys.forEach((part, index) => statement.bindCell(index + 1, part[row] as CellValue));
      if (statement.step()) for (const [index, column] of values.entries()) column.push(statement.readCell(index));
      statement.reset();
    }
  } finally {
    statement.release();
  }
  return { columnIds, values };
}

/** Describes what row-by-row writes change. Only columns that differ count. */
export function changesOfWrites(lookups: LookupsByTable, writes: readonly WrittenRow[]): TableChange[] {
  return [...Map.groupBy(writes, ({ writer }) => writer.table.id)].flatMap(([tableId, rows]): TableChange[] => {
    const table = lookups.get(tableId);
    if (table === undefined) return [];
    return [
      {
        table: table.table.name,
        columns: changedColumns(table, rows),
        keysByColumn: rows.length > MAX_NAMED_ROWS ? {} : keysOf(table, rows),
      },
    ];
  });
}

function changedColumns({ hasGenerated, nameById }: TableLookups, rows: readonly WrittenRow[]): string[] | null {
  if (hasGenerated || rows.some(({ before, after }) => before.exists !== after.exists)) return null;
  const changed = new Set<string>();
  for (const { before, after } of rows) {
    for (const [columnId, value] of after.values)
      if (!cellValuesEqual(before.values.get(columnId) ?? null, value)) changed.add(nameById.get(columnId) ?? '');
  }
  return [...changed];
}

function keysOf(
  { table, keyColumn, valueColumns }: TableLookups,
  rows: readonly WrittenRow[],
): Record<string, string[]> {
  const keys: Record<string, string[]> = {};
  if (keyColumn !== null)
    keys[keyColumn] = rows.map(({ key }) => lookupKey(key[table.primaryKey.indexOf(keyColumn)] as CellValue));
  for (const { id, name } of valueColumns) {
    // A new row takes the default of an omitted column, which is unknown, so any key is possible.
    if (rows.some(({ after }) => after.exists && !after.values.has(id))) continue;
    keys[name] = rows.flatMap(({ before, after }) =>
      [before, after].filter(({ exists }) => exists).map(({ values }) => lookupKey(values.get(id) ?? null)),
    );
  }
  return keys;
}
