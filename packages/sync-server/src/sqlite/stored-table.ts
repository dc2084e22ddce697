import {
  createIndexSql,
  documentColumns,
  keyColumns,
  keyMatchSql,
  policiesOf,
  quoteName,
  tableDomain,
  tableToDdl,
  valueColumns,
  type ColumnSchema,
  type DocumentRule,
  type ForeignKeySchema,
  type IndexSchema,
  type RowRules,
  type TableDomain,
  type TableSchema,
} from '@rockpool/shared';

/** Rows that one statement reads: each by one of its own takes three times as long. */
export const ROWS_AT_ONCE = 64;

/**
 * A synced table with the SQL that admission and delivery use. Names come from the schema alone, never from a frame.
 */
export interface StoredTable {
  readonly schema: TableSchema;
  /** Rockpool's own: clients read it and never write it. */
  readonly system: boolean;
  readonly keys: readonly ColumnSchema[];
  readonly values: readonly ColumnSchema[];
  readonly valueById: ReadonlyMap<number, ColumnSchema>;
  /** Of the value columns. */
  readonly columnIds: readonly number[];
  /** The value columns in schema order (or the constant 1 where there are none), by key. */
  readonly selectSql: string;
  /** The same for ROWS_AT_ONCE keys, one after the other, and with each row at which place its key was given. */
  readonly selectTogetherSql: string;
  readonly deleteSql: string;
  /** Parameters: the key's parts, then the value columns in schema order. */
  readonly insertSql: string;
  /** What its columns can hold. */
  readonly domain: TableDomain;
  /** Columns whose new value can collide with another row; null: any column may. */
  readonly uniqueColumnIds: ReadonlySet<number> | null;
  /** The policies of documents are bound to their row in documents/document-merge.ts. */
  readonly rules: RowRules;
  /**
   * The rules of the document columns, by id. Where cells are merged they are states (shared/document); the app's table
   * has their JSON.
   */
  readonly documents: ReadonlyMap<number, DocumentRule>;
}

export function toStoredTable(schema: TableSchema, system: boolean): StoredTable {
  const keys = keyColumns(schema);
  const values = valueColumns(schema);
  const documents = documentColumns(schema);
  const name = quoteName(schema.name);
  const whereKey = keyMatchSql(schema);
  const selected = values.length === 0 ? '1' : values.map((column) => quoteName(column.name)).join(', ');
  return {
    schema,
    system,
    keys,
    values,
    columnIds: values.map(({ id }) => id),
    valueById: new Map(values.map((column) => [column.id, column])),
    selectSql: `SELECT ${selected} FROM ${name} WHERE ${whereKey}`,
    selectTogetherSql: selectTogether(name, keys, values),
    insertSql: insertInto(
      schema.name,
      [...keys, ...values].map((column) => column.name),
    ),
    deleteSql: `DELETE FROM ${name} WHERE ${whereKey}`,
    domain: tableDomain(schema),
    uniqueColumnIds: uniqueColumnIds(schema, values),
    rules: { deleteRule: schema.merge.deleteRule, policies: policiesOf(schema) },
    documents,
  };
}

/** CROSS JOIN: the keys lead, and the table is looked into by its index. */
function selectTogether(name: string, keys: readonly ColumnSchema[], values: readonly ColumnSchema[]): string {
  const asked = Array.from({ length: ROWS_AT_ONCE }, (_, at) => `(${at}${', ?'.repeat(keys.length)})`).join(', ');
  const isAsked = keys
    .map(
      (column, k) =>
        `${name}.${quoteName(column.name)} = rockpool_asked.column${k + 2} AND typeof(${name}.${quoteName(column.name)}) = typeof(rockpool_asked.column${k + 2})`,
    )
    .join(' AND ');
  const selected = [...values.map((column) => `${name}.${quoteName(column.name)}`), 'rockpool_asked.column1'].join(
    ', ',
  );
  return `SELECT ${selected} FROM (VALUES ${asked}) AS rockpool_asked CROSS JOIN ${name} ON ${isAsked}`;
}

/**
 * Parameters: the key's parts, then the values of `columnIds`. For the table's own columns it stands ready as
 * `insertSql`.
 */
export function partialInsertSql(table: StoredTable, columnIds: readonly number[]): string {
  return insertInto(table.schema.name, [
    ...table.keys.map(({ name }) => name),
    ...columnIds.map((id) => columnName(table, id)),
  ]);
}

function insertInto(tableName: string, columnNames: readonly string[]): string {
  return `INSERT INTO ${quoteName(tableName)} (${columnNames.map(quoteName).join(', ')}) VALUES (${columnNames.map(() => '?').join(', ')})`;
}

/** Parameters: the values of `columnIds`, then the key's parts. */
export function updateSql(table: StoredTable, columnIds: readonly number[]): string {
  const sets = columnIds.map((id) => `${quoteName(columnName(table, id))} = ?`).join(', ');
  return `UPDATE ${quoteName(table.schema.name)} SET ${sets} WHERE ${keyMatchSql(table.schema, { first: columnIds.length + 1 })}`;
}

/**
 * The table, its indexes, and an index for each foreign key that has none: deleting a parent looks for its children.
 */
export function storedTableToDdl(schema: TableSchema): string[] {
  return [...tableToDdl(schema), ...foreignKeyIndexes(schema).map((index) => createIndexSql(schema.name, index))];
}

export function foreignKeyIndexes(schema: TableSchema): IndexSchema[] {
  return schema.foreignKeys
    .filter((key) => !hasIndexOn(schema, key))
    .map(({ columns }, position) => ({
      name: `rockpool_foreign_key_${schema.id.toString(16).padStart(8, '0')}_${position}`,
      unique: false,
      expressions: columns.map(quoteName),
      whereSql: null,
    }));
}

function hasIndexOn(schema: TableSchema, { columns }: ForeignKeySchema): boolean {
  const startsWith = (names: readonly string[]): boolean => columns.every((name, i) => names[i] === name);
  return (
    startsWith(schema.primaryKey) ||
    schema.uniques.some(startsWith) ||
    schema.indexes.some(
      ({ expressions, whereSql }) =>
        whereSql === null && columns.every((name, i) => expressions[i] === quoteName(name) || expressions[i] === name),
    )
  );
}

function uniqueColumnIds(schema: TableSchema, values: readonly ColumnSchema[]): ReadonlySet<number> | null {
  const uniqueIndexes = schema.indexes.filter(({ unique }) => unique);
  // An index on expressions, with a WHERE, or on a generated column may depend on any column.
  const plainNames = [...schema.uniques.flat(), ...uniqueIndexes.flatMap(({ expressions }) => expressions)];
  const ids = new Set<number>();
  for (const name of plainNames) {
    const isKey = schema.primaryKey.some((key) => key === name || quoteName(key) === name);
    const column = values.find((candidate) => candidate.name === name || quoteName(candidate.name) === name);
    if (column !== undefined) ids.add(column.id);
    else if (!isKey) return null;
  }
  return uniqueIndexes.some(({ whereSql }) => whereSql !== null) ? null : ids;
}

function columnName(table: StoredTable, columnId: number): string {
  const column = table.valueById.get(columnId);
  if (column === undefined) throw new Error(`table ${table.schema.name} has no value column ${columnId}`);
  return column.name;
}
