import type { DocumentRule } from '../document/document-rule.ts';

/*
 * The schema of a database as plain data: the app's Drizzle declarations, reduced to what SQLite, capture and merge
 * need. The client builds it from Drizzle tables; the server reads it from a file; both compare it by its hash.
 */

/** The column types of Drizzle's SQLite dialect. The name is the affinity. */
export type ColumnType = 'text' | 'integer' | 'real' | 'blob' | 'numeric';

export interface ColumnSchema {
  /** See identity.ts. */
  readonly id: number;
  readonly name: string;
  readonly type: ColumnType;
  readonly notNull: boolean;
  /** An SQL expression, or null for none. */
  readonly defaultSql: string | null;
  /** The column is computed from others: never captured or sent. */
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
  /** Column names or SQL expressions, as written between the parentheses. */
  readonly expressions: readonly string[];
  readonly whereSql: string | null;
}

/**
 * A full-text index that each device keeps over one table: an FTS5 table with its own name. It has no effect on rows,
 * so the schema hash does not cover it.
 */
export interface SearchIndexSchema {
  /** The name to use with MATCH. */
  readonly name: string;
  /** TEXT columns. */
  readonly columns: readonly string[];
  /** The FTS5 tokenizer and its options: `unicode61 remove_diacritics 2`. */
  readonly tokenize: string;
}

/** Splits at everything but letters and digits; ignores case and accents. */
export const DEFAULT_TOKENIZE = 'unicode61 remove_diacritics 2';

/** How concurrent writes of one table merge. Last writer wins in every column that is not named here. */
export interface MergeRules {
  /**
   * What happens to a row that one device deletes while another updates it, if neither device has seen the write of the
   * other.
   */
  readonly deleteRule: DeleteRule;
  /** What happens to a row whose unique value another row already has. Default: `reject`. */
  readonly uniqueRule?: UniqueRule;
  /**
   * What happens to rows whose parent another author deletes. Default: the rule that follows from `ON DELETE`
   * (foreignKeyRule).
   */
  readonly foreignKeyRules?: readonly ForeignKeyRuleDeclaration[];
  /** INTEGER NOT NULL columns whose changes add up: an update carries its difference. */
  readonly counters: readonly string[];
  /** Columns that win or lose together, because they have a meaning only together. */
  readonly groups: readonly (readonly string[])[];
  /** TEXT columns with JSON whose parts are merged: two users can change different parts at the same time. */
  readonly documents: readonly DocumentColumn[];
}

export interface DocumentColumn extends DocumentRule {
  readonly column: string;
}

/** `delete-wins`: the row stays deleted. `update-wins`: the update brings the whole row back. */
export type DeleteRule = 'delete-wins' | 'update-wins';

export const DEFAULT_MERGE_RULES: MergeRules = { deleteRule: 'delete-wins', counters: [], groups: [], documents: [] };

/**
 * How long the server keeps the versions of a table's rows. It has no effect on rows, so the schema hash does not cover
 * it.
 */
export interface HistoryRule {
  /** In days, at least 1. Null for no limit. */
  readonly retainedDays: number | null;
}

export interface TableSchema {
  /** See identity.ts. */
  readonly id: number;
  readonly name: string;
  readonly columns: readonly ColumnSchema[];
  /** Names of the key columns, in key order. */
  readonly primaryKey: readonly string[];
  readonly uniques: readonly (readonly string[])[];
  readonly foreignKeys: readonly ForeignKeySchema[];
  readonly checks: readonly { readonly name: string | null; readonly sql: string }[];
  readonly indexes: readonly IndexSchema[];
  /** Default: none. */
  readonly searchIndexes?: readonly SearchIndexSchema[];
  readonly merge: MergeRules;
  /** Default: the server keeps no versions of its rows. */
  readonly history?: HistoryRule;
  /** False if the table is local to each device. */
  readonly synced: boolean;
}

export interface Schema {
  /** The tables, sorted by name. */
  readonly tables: readonly TableSchema[];
  /** The hash of the synced tables, 32 hex digits. See identity.ts. */
  readonly hash: string;
}

export function keyColumns(table: TableSchema): ColumnSchema[] {
  return table.primaryKey.map((name) => {
    const column = table.columns.find((candidate) => candidate.name === name);
    if (column === undefined) throw new Error(`key column ${name} is not a column of ${table.name}`);
    return column;
  });
}

/** The columns that are sent in addition to the key: stored, not generated, in schema order. */
export function valueColumns(table: TableSchema): ColumnSchema[] {
  return table.columns.filter((column) => column.generated === null && !table.primaryKey.includes(column.name));
}

/** Every pair of names that a query can use: table or search index, and column. */
export function namedColumns(schema: Schema): (readonly [table: string, column: string])[] {
  return schema.tables.flatMap(({ name, columns, searchIndexes = [] }) => [
    ...columns.map((column) => [name, column.name] as const),
    ...searchIndexes.flatMap((index) => index.columns.map((column) => [index.name, column] as const)),
  ]);
}

export function syncedTables(schema: Schema): TableSchema[] {
  return schema.tables.filter((table) => table.synced);
}

/**
 * What the server does with a row whose unique value another row already has. The row that came first keeps the value.
 *
 * - `reject`: the changeset is rejected whole and stays with its author.
 * - RenameRule: the row receives the next free name, and the conflict log keeps the name that its author chose.
 */
export type UniqueRule = 'reject' | RenameRule;

export interface RenameRule {
  /** The TEXT column whose value receives the suffix. A collision in other columns rejects the changeset. */
  readonly rename: string;
  /** Contains `{n}` once, which stands for the number, starting at 2. */
  readonly suffix: string;
}

/**
 * What the server does with a row that refers to a parent that another author has deleted, if neither author has seen
 * the write of the other.
 *
 * - `reject`: the changeset that comes second is rejected.
 * - `cascade`: the row is deleted with its parent, and comes back with it. Needs `ON DELETE CASCADE`.
 * - `set-null`: the reference is NULL while the parent is deleted. Needs `ON DELETE SET NULL`.
 * - `restore-parent`: the parent comes back, or is not deleted. A write of the reference counts as an update of the
 *   parent, which has the `deleteRule` `update-wins`.
 */
export type ForeignKeyRule = 'reject' | 'cascade' | 'set-null' | 'restore-parent';

export interface ForeignKeyRuleDeclaration {
  /** The columns of the foreign key. */
  readonly columns: readonly string[];
  readonly rule: ForeignKeyRule;
}
