import {
  columnIdOf,
  quoteName,
  tableIdOf,
  type ColumnSchema,
  type ForeignKeySchema,
  type IndexSchema,
  type TableSchema,
} from '@rockpool/shared';
import { getTableName, is, SQL } from 'drizzle-orm';
import {
  getTableConfig,
  SQLiteBaseInteger,
  type ForeignKey,
  type Index,
  type SQLiteColumn,
  type SQLiteTable,
} from 'drizzle-orm/sqlite-core';
import { columnTypeOf } from './column-type.ts';
import type { DeclarationProblem } from './problems.ts';
import { sqlToText, valueToLiteral } from './sql-text.ts';

type TableConfig = ReturnType<typeof getTableConfig>;

/** Reads one Drizzle table. Reports every part that a schema cannot express. */
export function drizzleTableToSchema(
  table: SQLiteTable,
  rules: Pick<TableSchema, 'synced' | 'merge' | 'searchIndexes' | 'history'>,
  problems: DeclarationProblem[],
): TableSchema {
  const config = getTableConfig(table);
  const report = (column: string | null, problem: string): void =>
    void problems.push({ table: config.name, column, problem });

  return {
    id: tableIdOf(config.name),
    name: config.name,
    columns: config.columns.map((column) => readColumn(column, report)),
    primaryKey: readPrimaryKey(config, report),
    uniques: [
      ...config.columns.filter((column) => column.isUnique).map((column) => [column.name]),
      ...config.uniqueConstraints.map((unique) => unique.columns.map((column) => column.name)),
    ],
    foreignKeys: config.foreignKeys.map(readForeignKey),
    checks: config.checks.map((check) => ({ name: check.name, sql: readSql(check.value, null, report) })),
    indexes: config.indexes.map((index) => readIndex(index, report)),
    ...rules,
  };
}

type Report = (column: string | null, problem: string) => void;

function readColumn(column: SQLiteColumn, report: Report): ColumnSchema {
  if (is(column, SQLiteBaseInteger) && column.autoIncrement) {
    report(
      column.name,
      'AUTOINCREMENT is not supported. Use a text key filled by newId(); a local table may use an integer primary key without it.',
    );
  }
  return {
    id: columnIdOf(column.name),
    name: column.name,
    type: columnTypeOf(column.getSQLType()),
    notNull: column.notNull,
    defaultSql: readDefault(column, report),
    generated: readGenerated(column, report),
  };
}

function readDefault(column: SQLiteColumn, report: Report): string | null {
  const value: unknown = column.default;
  if (value === undefined) return null;
  if (is(value, SQL)) return readSql(value, column.name, report);
  const literal = value === null ? 'NULL' : valueToLiteral(column.mapToDriverValue(value));
  if (literal === null) report(column.name, 'The default of the column must be SQL or a value that SQLite can store.');
  return literal;
}

function readGenerated(column: SQLiteColumn, report: Report): ColumnSchema['generated'] {
  const { generated } = column;
  if (generated === undefined) return null;
  const declared: unknown = typeof generated.as === 'function' ? (generated.as as () => unknown)() : generated.as;
  // Drizzle accepts an SQL object or the bare text of the expression.
  return {
    sql: is(declared, SQL) ? readSql(declared, column.name, report) : String(declared),
    mode: generated.mode ?? 'virtual',
  };
}

function readPrimaryKey(config: TableConfig, report: Report): string[] {
  const inline = config.columns.filter((column) => column.primary).map((column) => column.name);
  const declared = config.primaryKeys.map((key) => key.columns.map((column) => column.name));
  if (inline.length > 1 || declared.length + inline.length > 1) {
    report(
      null,
      'The table has more than one primary key. Declare a key of several columns with one primaryKey({ columns: […] }).',
    );
  }
  return declared[0] ?? inline;
}

function readForeignKey(key: ForeignKey): ForeignKeySchema {
  const { columns, foreignTable, foreignColumns } = key.reference();
  return {
    columns: columns.map((column) => column.name),
    foreignTable: getTableName(foreignTable),
    foreignColumns: foreignColumns.map((column) => column.name),
    onDelete: key.onDelete ?? 'no action',
    onUpdate: key.onUpdate ?? 'no action',
  };
}

function readIndex({ config }: Index, report: Report): IndexSchema {
  return {
    name: config.name,
    unique: config.unique,
    expressions: config.columns.map((column) =>
      is(column, SQL) ? readSql(column, null, report) : quoteName(column.name),
    ),
    whereSql: config.where === undefined ? null : readSql(config.where, null, report),
  };
}

function readSql(expression: SQL, column: string | null, report: Report): string {
  const text = sqlToText(expression);
  if (text === null) report(column, 'An SQL expression in the declaration contains a value that SQLite cannot store.');
  return text ?? 'NULL';
}
