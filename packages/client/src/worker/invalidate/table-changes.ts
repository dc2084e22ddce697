import {
  documentColumns,
  keyMatchSql,
  quoteName,
  valueColumns,
  type BeforeGroup,
  type CellValue,
  type ChangeGroup,
  type ColumnSchema,
  type TableSchema,
} from '@rockpool/shared';
import { lookupKey } from '../../rpc/lookup-key.ts';
import type { TableChange } from '../../rpc/query-dependencies.ts';
import type { CapturedChanges } from '../capture/captured-changes.ts';
import type { Connection } from '../sqlite/connection.ts';

/** The largest group whose changes name their rows. Above this size, naming rows would cost more than it saves. */
export const MAX_NAMED_ROWS = 64;

/**
 * How a table's changes are described to live queries: with the values of the columns that come first in an index or
 * key, since most queries for one value search by one of these. Generated columns and documents are omitted, because
 * their stored values are unknown where changes are described.
 */
export interface TableLookups {
  readonly table: TableSchema;
  readonly nameById: ReadonlyMap<number, string>;
  /** The first column of the primary key. */
  readonly keyColumn: string | null;
  readonly valueColumns: readonly ColumnSchema[];
  /** Whether the table has generated columns. Their sources are unknown here, so any change may change them. */
  readonly hasGenerated: boolean;
}

/** Keyed by table id. */
export type LookupsByTable = ReadonlyMap<number, TableLookups>;

export function lookupsByTable(tables: readonly TableSchema[]): LookupsByTable {
  return new Map(
    tables.map((table) => {
      const documents = documentColumns(table);
      const isFirst = ({ name }: ColumnSchema): boolean =>
        table.uniques.some(([first]) => first === name) ||
        table.indexes.some(({ expressions: [first] }) => first === quoteName(name));
      return [
        table.id,
        {
          table,
          nameById: new Map(table.columns.map(({ id, name }) => [id, name])),
          keyColumn: table.primaryKey[0] ?? null,
          valueColumns: valueColumns(table).filter((column) => !documents.has(column.id) && isFirst(column)),
          hasGenerated: table.columns.some(({ generated }) => generated !== null),
        },
      ];
    }),
  );
}

/** Describes what a transaction changed, for live queries. Call it before COMMIT: it reads unchanged values. */
export function tableChanges(
  connection: Connection,
  lookups: LookupsByTable,
  { groups, before }: CapturedChanges,
): TableChange[] {
  return groups.flatMap((group, index) => {
    const table = lookups.get(group.tableId);
    if (table === undefined) return [];
    const keysByColumn =
      group.rowCount > MAX_NAMED_ROWS ? {} : keysOf(connection, table, group, before[index] as BeforeGroup);
    const columns =
      group.kind === 'update' && !table.hasGenerated ? group.columnIds.map((id) => table.nameById.get(id) ?? '') : null;
    return [{ table: table.table.name, columns, keysByColumn }];
  });
}

function keysOf(
  connection: Connection,
  lookups: TableLookups,
  group: ChangeGroup,
  before: BeforeGroup,
): Record<string, string[]> {
  const { table, keyColumn } = lookups;
  const keys: Record<string, string[]> = {};
  if (keyColumn !== null) keys[keyColumn] = toKeys(group.keys[table.primaryKey.indexOf(keyColumn)]);
  for (const { id, name } of lookups.valueColumns) {
    // A new row takes the default of an omitted column, which is unknown, so any key is possible.
    if (group.kind === 'insert' && !group.columnIds.includes(id)) continue;
    keys[name] = [
      ...toKeys(group.values[group.columnIds.indexOf(id)]),
      ...toKeys(before.values[before.columnIds.indexOf(id)]),
    ];
  }
  if (group.kind === 'update') addUnchanged(connection, lookups, group, keys);
  return Object.fromEntries(Object.entries(keys).map(([column, all]) => [column, [...new Set(all)]]));
}

function toKeys(values: readonly CellValue[] = []): string[] {
  return values.map(lookupKey);
}

/** Adds the values of unchanged columns, because queries may find a changed row by them. */
function addUnchanged(
  connection: Connection,
  { table, valueColumns: columns }: TableLookups,
  group: ChangeGroup,
  keys: Record<string, string[]>,
): void {
  const unchanged = columns.filter(({ id }) => !group.columnIds.includes(id));
  if (unchanged.length === 0) return;
  const statement = connection.prepare(
    `SELECT ${unchanged.map(({ name }) => quoteName(name)).join(', ')} FROM main.${quoteName(table.name)} WHERE ${keyMatchSql(table)}`,
  );
  try {
    for (let row = 0; row < group.rowCount; row++) {
      group.keys.forEach((part, index) => statement.bindCell(index + 1, part[row] as CellValue));
      if (statement.step())
        unchanged.forEach(({ name }, index) => keys[name]?.push(lookupKey(statement.readCell(index))));
      statement.reset();
    }
  } finally {
    statement.release();
  }
}
