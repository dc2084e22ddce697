import { foreignKeyRule, syncedTables, type ForeignKeyRule, type Schema, type TableSchema } from '#shared/index.ts';
import { householdSchema, olderSchema } from '../household-schema.ts';
import { NamedTexts, type AskForTexts } from '../table-texts.ts';

/** A value as printed by SQLite's quote(). Equal literals mean equal types and bytes. */
export type Literal = string;

export const NULL: Literal = 'NULL';

export interface ForeignKey {
  readonly columns: readonly string[];
  readonly parent: string;
  readonly parentColumns: readonly string[];
  readonly rule: ForeignKeyRule;
}

/** The facts about a table that docs/merge-rules.md needs. */
export interface OracleTable {
  readonly id: number;
  readonly name: string;
  readonly key: readonly string[];
  /** The columns outside the key, without generated ones. */
  readonly values: readonly string[];
  readonly counters: ReadonlySet<string>;
  readonly groups: readonly (readonly string[])[];
  readonly documents: ReadonlySet<string>;
  readonly updateWins: boolean;
  readonly uniques: readonly (readonly string[])[];
  readonly foreignKeys: readonly ForeignKey[];
  /** Selects one text with all rows, in the order of their keys. Equal texts mean equal types and bytes. */
  readonly sql: string;
}

const [FIELD, LINE] = ['\u001f', '\u001e'];

type OracleTables = ReadonlyMap<string, OracleTable>;

const oracleTables = (schema: Schema): OracleTables =>
  new Map(syncedTables(schema).map((table) => [table.name, toOracleTable(table)]));

export const ORACLE_TABLES: OracleTables = oracleTables(householdSchema);

const OLDER_TABLES: OracleTables = oracleTables(olderSchema);

/** The tables of a device's file, with the columns that it has. */
export function tablesOf({ hash }: Schema): OracleTables {
  return hash === olderSchema.hash ? OLDER_TABLES : ORACLE_TABLES;
}

function toOracleTable(schema: TableSchema): OracleTable {
  const { id, name, primaryKey, columns, uniques, foreignKeys, merge } = schema;
  const values = columns.filter((one) => one.generated === null && !primaryKey.includes(one.name));
  const all = [...primaryKey, ...values.map((one) => one.name)];
  const line = all.map((column) => `quote("${column}")`).join(' || char(31) || ');
  const order = primaryKey.map((column) => `"${column}"`).join(', ');
  return {
    id,
    name,
    key: primaryKey,
    values: values.map((one) => one.name),
    counters: new Set(merge.counters),
    groups: merge.groups,
    documents: new Set(merge.documents.map(({ column }) => column)),
    updateWins: merge.deleteRule === 'update-wins',
    uniques,
    foreignKeys: foreignKeys.map((one) => ({
      columns: one.columns,
      parent: one.foreignTable,
      parentColumns: one.foreignColumns,
      rule: foreignKeyRule(schema, one),
    })),
    sql: `SELECT group_concat(line, char(30)) FROM (SELECT ${line} AS line FROM "${name}" ORDER BY ${order})`,
  };
}

/** The rows of all synced tables, as one text for each table, and possibly further texts. */
export type TableTexts = ReadonlyMap<string, string>;

const textsOf = (tables: OracleTables): NamedTexts =>
  new NamedTexts(new Map([...tables.values()].map(({ name, sql }) => [name, sql])));

const TEXTS = textsOf(ORACLE_TABLES);
const OLDER_TEXTS = textsOf(OLDER_TABLES);

export function readTables(ask: AskForTexts, { hash }: Schema = householdSchema): TableTexts {
  return (hash === olderSchema.hash ? OLDER_TEXTS : TEXTS).read(ask);
}

/** One row: its key and its values, in the order of the table's columns. */
export interface Line {
  readonly key: readonly Literal[];
  readonly values: ReadonlyMap<string, Literal>;
}

export function linesOf(text: string): string[] {
  return text === '' ? [] : text.split(LINE);
}

export function parseLine(table: OracleTable, line: string): Line {
  const fields = line.split(FIELD);
  return {
    key: fields.slice(0, table.key.length),
    values: new Map(table.values.map((column, index) => [column, fields[table.key.length + index] as Literal])),
  };
}

export function toLine(table: OracleTable, key: readonly Literal[], values: ReadonlyMap<string, Literal>): string {
  return [...key, ...table.values.map((column) => values.get(column) ?? NULL)].join(FIELD);
}

/** The name of a row among all rows of all tables. */
export function rowNameOf(table: OracleTable, key: readonly Literal[]): string {
  return `${table.name} ${key.join(FIELD)}`;
}

export function keyOf(rowName: string): readonly Literal[] {
  return rowName.slice(rowName.indexOf(' ') + 1).split(FIELD);
}

export function tableOf(rowName: string): OracleTable {
  return ORACLE_TABLES.get(rowName.slice(0, rowName.indexOf(' '))) as OracleTable;
}

/** The text of a text literal; null for any other literal. */
export function unquoted(literal: Literal): string | null {
  return literal.startsWith("'") ? literal.slice(1, -1).replaceAll("''", "'") : null;
}

/** A key as the conflict log names it: a JSON array, with integers as texts. */
export function keyAsJson(key: readonly Literal[]): string {
  return JSON.stringify(key.map((part) => unquoted(part) ?? part));
}

/** A part of a key. */
export function toLiteral(part: unknown): Literal {
  return typeof part === 'string' ? `'${part.replaceAll("'", "''")}'` : String(part);
}
