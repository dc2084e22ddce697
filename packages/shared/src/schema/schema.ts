import type { DocumentRule } from '../document/document-rule.ts';
import type { UniqueRule } from './unique-rule.ts';

/*
 * The schema of an app's database, as plain data: what the app declares with Drizzle, reduced to what SQLite, capture
 * and merge need. Built by the client from Drizzle tables, written to a file for the server, compared by its hash.
 */

/** The column types that Drizzle's SQLite dialect writes. The name is the affinity. */
export type ColumnType = 'text' | 'integer' | 'real' | 'blob' | 'numeric';

export interface ColumnSchema {
  /** See identity.ts. */
  readonly id: number;
  readonly name: string;
  readonly type: ColumnType;
  readonly notNull: boolean;
  /** An SQL expression, or null for none. */
  readonly defaultSql: string | null;
  /** Computed from other columns: never captured, never sent. */
  readonly generated: { readonly sql: string; readonly mode: 'stored' | 'virtual' } | null;
}

export type ForeignKeyAction = 'no action' | 'restrict' | 'cascade' | 'set null' | 'set default';

export interface ForeignKeySchema {
  readonly columns: readonly string[];
  readonly foreignTable: string;
  readonly foreignColumns: readonly string[];
  readonly onDelete: ForeignKeyAction;
  readonly onUpdate: ForeignKeyAction;
}

export interface IndexSchema {
  readonly name: string;
  readonly unique: boolean;
  /** Column names or SQL expressions, as they stand between the brackets. */
  readonly expressions: readonly string[];
  readonly whereSql: string | null;
}

/**
 * A full-text index that each device keeps over one table: an FTS5 table of its own name. It decides nothing about
 * rows, so it is no part of the identity.
 */
export interface SearchIndexSchema {
  /** The name to MATCH. */
  readonly name: string;
  /** TEXT columns. */
  readonly columns: readonly string[];
  /** How text becomes words, as FTS5 has it: `unicode61 remove_diacritics 2`. */
  readonly tokenize: string;
}

/** Splits at what is neither letter nor digit; case and accents do not count. */
export const DEFAULT_TOKENIZE = 'unicode61 remove_diacritics 2';

/** How concurrent writes of one table come together. What is not named here is last writer wins, per column. */
export interface MergeRules {
  /** What becomes of a row that one device deletes while another updates it, neither seeing the other. */
  readonly deleteRule: DeleteRule;
  /** What happens to a row that takes a unique value which another row has. Default: `reject`. */
  readonly uniqueRule?: UniqueRule;
  /** INTEGER NOT NULL columns whose changes add up: an update is sent as what it adds. */
  readonly counters: readonly string[];
  /** Columns that win or lose together, because only together they mean something. */
  readonly groups: readonly (readonly string[])[];
  /** TEXT columns whose JSON is merged inside: two people may change different places of it. */
  readonly documents: readonly DocumentColumn[];
}

export interface DocumentColumn extends DocumentRule {
  readonly column: string;
}

/** `delete-wins`: the row stays deleted. `update-wins`: the whole row comes back, with the update. */
export type DeleteRule = 'delete-wins' | 'update-wins';

export const DEFAULT_MERGE_RULES: MergeRules = { deleteRule: 'delete-wins', counters: [], groups: [], documents: [] };

export interface TableSchema {
  /** See identity.ts. */
  readonly id: number;
  readonly name: string;
  readonly columns: readonly ColumnSchema[];
  /** Names of the key's columns, in key order. */
  readonly primaryKey: readonly string[];
  readonly uniques: readonly (readonly string[])[];
  readonly foreignKeys: readonly ForeignKeySchema[];
  readonly checks: readonly { readonly name: string | null; readonly sql: string }[];
  readonly indexes: readonly IndexSchema[];
  /** Default: none. */
  readonly searchIndexes?: readonly SearchIndexSchema[];
  readonly merge: MergeRules;
  /** False: the table stays on its device. */
  readonly synced: boolean;
}

export interface Schema {
  /** Sorted by name. */
  readonly tables: readonly TableSchema[];
  /** Of the synced tables alone, 32 hex digits. See identity.ts. */
  readonly hash: string;
}

export function keyColumns(table: TableSchema): ColumnSchema[] {
  return table.primaryKey.map((name) => {
    const column = table.columns.find((candidate) => candidate.name === name);
    if (column === undefined) throw new Error(`key column ${name} is not a column of ${table.name}`);
    return column;
  });
}

/** The columns that travel beside the key: stored, not generated, in schema order. */
export function valueColumns(table: TableSchema): ColumnSchema[] {
  return table.columns.filter((column) => column.generated === null && !table.primaryKey.includes(column.name));
}

/** Everything that a query can name: table, or search index, and column. */
export function namedColumns(schema: Schema): (readonly [table: string, column: string])[] {
  return schema.tables.flatMap(({ name, columns, searchIndexes = [] }) => [
    ...columns.map((column) => [name, column.name] as const),
    ...searchIndexes.flatMap((index) => index.columns.map((column) => [index.name, column] as const)),
  ]);
}

export function syncedTables(schema: Schema): TableSchema[] {
  return schema.tables.filter((table) => table.synced);
}
