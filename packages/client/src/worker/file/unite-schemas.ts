import {
  buildSchema,
  POLICY_DECLARATIONS,
  type ColumnSchema,
  type MergeRules,
  type Schema,
  type TableSchema,
} from '@rockpool/shared';
import { incompatible, policyChangeProblem, same } from './schema-change.ts';

/**
 * Returns the schema of a file that bundles of several versions open: the stored schema with the app's additional
 * declarations. Returns the `stored` object itself when the app declares nothing more.
 *
 * Throws `schema-incompatible` when the app's statements would have a different meaning in this file: a table or column
 * that both have differs, the file lacks a constraint that the app declares, or a row needs a value for a column that
 * the app does not know. The merge rules of deletes, groups of columns and unique values are not compared: statements
 * mean the same under any of them, and the file's rules apply.
 */
export function uniteSchemas(stored: Schema, app: Schema): Schema {
  const appTables = new Map(app.tables.map((table) => [table.name, table]));
  const storedNames = new Set(stored.tables.map(({ name }) => name));
  const tables = stored.tables.map((table) => {
    const declared = appTables.get(table.name);
    return declared === undefined ? table : uniteTables(table, declared);
  });
  const added = app.tables.filter(({ name }) => !storedNames.has(name));
  const isStored = added.length === 0 && tables.every((table, index) => table === stored.tables[index]);
  return isStored ? stored : buildSchema([...tables, ...added]);
}

function uniteTables(stored: TableSchema, app: TableSchema): TableSchema {
  const table = stored.name;
  if (stored.synced !== app.synced) throw incompatible(table, null, 'the synced state of the table changed');
  if (!same(stored.primaryKey, app.primaryKey)) throw incompatible(table, null, 'the primary key changed');
  requireAll(stored.uniques, app.uniques, table, 'the UNIQUE constraints');
  requireAll(stored.foreignKeys, app.foreignKeys, table, 'the foreign keys');
  requireAll(
    stored.checks.map(({ sql }) => sql),
    app.checks.map(({ sql }) => sql),
    table,
    'the CHECK constraints',
  );
  for (const column of stored.columns) requireSharedColumn(stored, app, column);

  const columns = app.columns.filter(({ name }) => !stored.columns.some((column) => column.name === name));
  const indexes = newByName(stored.indexes, app.indexes);
  const searchIndexes = newByName(stored.searchIndexes ?? [], app.searchIndexes ?? []);
  if (columns.length + indexes.length + searchIndexes.length === 0) return stored;
  return {
    ...stored,
    columns: [...stored.columns, ...columns],
    indexes: [...stored.indexes, ...indexes],
    ...(searchIndexes.length === 0 ? {} : { searchIndexes: [...(stored.searchIndexes ?? []), ...searchIndexes] }),
    merge: uniteRules(stored, app, new Set(columns.map(({ name }) => name))),
  };
}

function requireSharedColumn(stored: TableSchema, app: TableSchema, column: ColumnSchema): void {
  const { name: table } = stored;
  const declared = app.columns.find(({ name }) => name === column.name);
  if (declared === undefined) {
    if (column.notNull && column.defaultSql === null && column.generated === null)
      throw incompatible(table, column.name, 'a new row needs a value for this column, which the app does not know');
    return;
  }
  if (!same(column, declared))
    throw incompatible(table, column.name, 'the type, default or merge rule of the column changed');
  const problem = policyChangeProblem(stored.merge, app.merge, column.name);
  if (problem !== null) throw incompatible(table, column.name, problem);
}

/** The file's rules, and those of the columns to add. */
function uniteRules(
  { name: table, merge: stored }: TableSchema,
  { merge: app }: TableSchema,
  added: ReadonlySet<string>,
): MergeRules {
  const united = POLICY_DECLARATIONS.map(({ key, columnsOf }) => {
    const entries = app[key].filter((entry) => columnsOf(entry).some((column) => added.has(column)));
    if (!entries.every((entry) => columnsOf(entry).every((column) => added.has(column))))
      throw incompatible(table, null, 'a new column belongs to a group with existing columns');
    return [key, [...stored[key], ...entries]] as const;
  });
  return { ...stored, ...Object.fromEntries(united) };
}

/** The file's rows may be more constrained than the app declares, but not less. */
function requireAll(stored: readonly unknown[], app: readonly unknown[], table: string, what: string): void {
  if (!app.every((wanted) => stored.some((known) => same(known, wanted))))
    throw incompatible(table, null, `${what} changed`);
}

function newByName<Named extends { readonly name: string }>(stored: readonly Named[], app: readonly Named[]): Named[] {
  return app.filter(({ name }) => !stored.some((known) => known.name === name));
}
