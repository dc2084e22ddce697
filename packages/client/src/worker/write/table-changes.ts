import { keyColumns, quoteName, valueColumns, type BeforeGroup, type CellValue, type ChangeGroup, type TableSchema } from '@rockpool/shared';
import { lookupKey } from '../../rpc/lookup-key.ts';
import type { TableChange } from '../../rpc/query-dependencies.ts';
import type { CapturedChanges } from '../capture/captured-changes.ts';
import type { Connection } from '../sqlite/connection.ts';

/** Of a commit with more rows in one group nothing but the columns is told: naming the rows would cost more than it saves. */
const MOST_ROWS = 64;

/** What tells a table's changes to live queries. */
interface TableLookups {
  readonly table: TableSchema;
  readonly nameById: ReadonlyMap<number, string>;
  /** The columns by which an index finds rows first: of queries that look for one value, mostly one of these is it. */
  readonly columns: readonly string[];
  /** What a generated column is made of is not known here, so it may change with any other. */
  readonly hasGenerated: boolean;
}

/** By table id. */
export type LookupsByTable = ReadonlyMap<number, TableLookups>;

export function lookupsByTable(tables: readonly TableSchema[]): LookupsByTable {
  return new Map(
    tables.map((table) => {
      const indexed = (name: string): boolean =>
        table.primaryKey[0] === name || table.uniques.some(([first]) => first === name) || table.indexes.some(({ expressions: [first] }) => first === quoteName(name));
      return [
        table.id,
        {
          table,
          nameById: new Map(table.columns.map(({ id, name }) => [id, name])),
          columns: table.columns.map(({ name }) => name).filter(indexed),
          hasGenerated: table.columns.some(({ generated }) => generated !== null),
        },
      ];
    }),
  );
}

/** What a transaction changed, as far as live queries can use it. Call it before COMMIT: values that did not change are read. */
export function tableChanges(connection: Connection, lookups: LookupsByTable, { groups, before }: CapturedChanges): TableChange[] {
  return groups.flatMap((group, index) => {
    const table = lookups.get(group.tableId);
    if (table === undefined) return [];
    const keysByColumn = group.rowCount > MOST_ROWS ? {} : keysOf(connection, table, group, before[index] as BeforeGroup);
    const columns = group.kind === 'update' && !table.hasGenerated ? group.columnIds.map((id) => table.nameById.get(id) ?? '') : null;
    return [{ table: table.table.name, columns, keysByColumn }];
  });
}

function keysOf(connection: Connection, { table, columns }: TableLookups, group: ChangeGroup, before: BeforeGroup): Record<string, string[]> {
  const keys = new Map<string, Set<string>>(columns.map((column) => [column, new Set()]));
  const add = (column: string, values: readonly CellValue[] | undefined): void => {
    for (const value of values ?? []) keys.get(column)?.add(lookupKey(value));
  };
  keyColumns(table).forEach(({ name }, index) => add(name, group.keys[index]));
  for (const { id, name } of valueColumns(table)) {
    add(name, group.values[group.columnIds.indexOf(id)]);
    add(name, before.values[before.columnIds.indexOf(id)]);
  }
  if (group.kind === 'update') addUnchanged(connection, table, group, columns, add);
  return Object.fromEntries([...keys].map(([column, values]) => [column, [...values]]));
}

/** A changed row is still found by the columns that did not change. */
function addUnchanged(connection: Connection, table: TableSchema, group: ChangeGroup, columns: readonly string[], add: (column: string, values: readonly CellValue[]) => void): void {
  const changed = new Set(group.columnIds);
  const unchanged = valueColumns(table).filter(({ id, name }) => columns.includes(name) && !changed.has(id));
  if (unchanged.length === 0) return;
  const match = keyColumns(table).map(({ name }) => `${quoteName(name)} = ?`).join(' AND ');
  const statement = connection.prepare(`SELECT ${unchanged.map(({ name }) => quoteName(name)).join(', ')} FROM main.${quoteName(table.name)} WHERE ${match}`);
  try {
    for (let row = 0; row < group.rowCount; row++) {
      group.keys.forEach((part, index) => statement.bindCell(index + 1, part[row] as CellValue));
      if (statement.step()) unchanged.forEach(({ name }, index) => add(name, [statement.readCell(index)]));
      statement.reset();
    }
  } finally {
    statement.release();
  }
}
