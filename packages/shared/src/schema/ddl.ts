import type { ColumnSchema, ForeignKeySchema, IndexSchema, TableSchema } from './schema.ts';

/** SQL that creates a table. Client and server run the same statements, so both decide constraints alike. */
export function tableToDdl(table: TableSchema): string[] {
  return [createTableSql(table), ...table.indexes.map((index) => createIndexSql(table.name, index))];
}

export function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

export function createTableSql(table: TableSchema): string {
  const parts = [
    ...table.columns.map(columnSql),
    ...(table.primaryKey.length > 0 ? [`PRIMARY KEY (${names(table.primaryKey)})`] : []),
    ...table.uniques.map((columns) => `UNIQUE (${names(columns)})`),
    ...table.foreignKeys.map(foreignKeySql),
    ...table.checks.map(({ name, sql }) => `${name === null ? '' : `CONSTRAINT ${quoteName(name)} `}CHECK (${sql})`),
  ];
  return `CREATE TABLE ${quoteName(table.name)} (\n  ${parts.join(',\n  ')}\n)`;
}

export function createIndexSql(tableName: string, index: IndexSchema): string {
  const unique = index.unique ? 'UNIQUE ' : '';
  const where = index.whereSql === null ? '' : ` WHERE ${index.whereSql}`;
  return `CREATE ${unique}INDEX ${quoteName(index.name)} ON ${quoteName(tableName)} (${index.expressions.join(', ')})${where}`;
}

/** A column definition for CREATE TABLE and ALTER TABLE … ADD COLUMN. */
export function columnSql(column: ColumnSchema): string {
  const { name, type, notNull, defaultSql, generated } = column;
  return [
    quoteName(name),
    type.toUpperCase(),
    ...(notNull ? ['NOT NULL'] : []),
    ...(defaultSql === null ? [] : [`DEFAULT (${defaultSql})`]),
    ...(generated === null ? [] : [`GENERATED ALWAYS AS (${generated.sql}) ${generated.mode.toUpperCase()}`]),
  ].join(' ');
}

function foreignKeySql({ columns, foreignTable, foreignColumns, onDelete, onUpdate }: ForeignKeySchema): string {
  const target = `${quoteName(foreignTable)} (${names(foreignColumns)})`;
  const actions = `ON UPDATE ${onUpdate.toUpperCase()} ON DELETE ${onDelete.toUpperCase()}`;
  return `FOREIGN KEY (${names(columns)}) REFERENCES ${target} ${actions}`;
}

function names(columns: readonly string[]): string {
  return columns.map(quoteName).join(', ');
}
