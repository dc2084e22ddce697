import {
  columnSql,
  createIndexSql,
  quoteName,
  RockpoolError,
  syncedTables,
  type Schema,
  type TableSchema,
} from '@rockpool/shared';
import { foreignKeyIndexes, storedTableToDdl } from '../sqlite/stored-table.ts';

/**
 * Returns the statements that migrate a stored database additively from one schema to another: new tables, columns and
 * plain indexes. Throws `schema-incompatible`, listing every difference that would change or drop something that stored
 * rows may depend on.
 */
export function schemaAdditions(before: Schema, after: Schema): string[] {
  const problems: string[] = [];
  const statements: string[] = [];
  const wanted = new Map(syncedTables(after).map((table) => [table.name, table]));
  for (const old of syncedTables(before)) {
    const table = wanted.get(old.name);
    wanted.delete(old.name);
    if (table === undefined) problems.push(`${old.name}: the table is missing from the new schema`);
    else statements.push(...tableAdditions(old, table, problems));
  }
  for (const table of wanted.values()) statements.push(...storedTableToDdl(table));
  if (problems.length > 0)
    throw new RockpoolError('schema-incompatible', { count: problems.length, problems: problems.join('\n') });
  return statements;
}

function tableAdditions(old: TableSchema, table: TableSchema, problems: string[]): string[] {
  const statements: string[] = [];
  const report = (problem: string): void => void problems.push(`${table.name}: ${problem}`);
  const oldColumns = new Map(old.columns.map((column) => [column.name, column]));
  for (const column of table.columns) {
    const oldColumn = oldColumns.get(column.name);
    oldColumns.delete(column.name);
    if (oldColumn !== undefined) {
      if (JSON.stringify(oldColumn) !== JSON.stringify(column))
        report(`the column ${column.name} is declared differently`);
    } else if (column.generated?.mode === 'stored') {
      report(`the new column ${column.name} is a stored generated column, which SQLite cannot add`);
    } else if (column.notNull && column.defaultSql === null && column.generated === null) {
      report(`the new column ${column.name} is NOT NULL and has no default`);
    } else statements.push(`ALTER TABLE ${quoteName(table.name)} ADD COLUMN ${columnSql(column)}`);
  }
  for (const name of oldColumns.keys()) report(`the column ${name} is missing from the new schema`);
  if (!sameList([old.primaryKey], [table.primaryKey])) report('the primary key differs');
  if (!sameList(old.uniques, table.uniques)) report('UNIQUE constraints differ');
  if (!sameList(old.foreignKeys, table.foreignKeys)) report('foreign keys differ');
  if (!sameList(old.checks, table.checks)) report('CHECK constraints differ');
  if (!sameList(uniqueIndexes(old), uniqueIndexes(table))) report('unique indexes differ');
  return [...statements, ...indexChanges(old, table)];
}

/** Plain indexes hold no data of their own, so they are created and dropped freely. */
function indexChanges(old: TableSchema, table: TableSchema): string[] {
  const sql = (from: TableSchema): string[] =>
    [...from.indexes, ...foreignKeyIndexes(from)]
      .filter(({ unique }) => !unique)
      .map((index) => createIndexSql(from.name, index));
  const oldSql = new Set(sql(old));
  const newSql = new Set(sql(table));
  const gone = [...old.indexes, ...foreignKeyIndexes(old)].filter(
    (index) => !index.unique && !newSql.has(createIndexSql(old.name, index)),
  );
  return [
    ...gone.map(({ name }) => `DROP INDEX ${quoteName(name)}`),
    ...[...newSql].filter((statement) => !oldSql.has(statement)),
  ];
}

function uniqueIndexes(table: TableSchema): unknown[] {
  return table.indexes.filter(({ unique }) => unique);
}

function sameList(a: readonly unknown[], b: readonly unknown[]): boolean {
  const sorted = (list: readonly unknown[]): string => JSON.stringify(list.map((item) => JSON.stringify(item)).sort());
  return sorted(a) === sorted(b);
}
