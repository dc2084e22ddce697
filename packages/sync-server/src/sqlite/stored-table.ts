import {
  createIndexSql,
  documentColumns,
  foreignKeyRule,
  keyColumns,
  keyMatchSql,
  policiesOf,
  quoteName,
  RockpoolError,
  tableDomain,
  tableToDdl,
  valueColumns,
  type ColumnPlace,
  type ColumnPolicy,
  type ColumnSchema,
  type DocumentRule,
  type ForeignKeySchema,
  type IndexSchema,
  type RowRules,
  type TableDomain,
  type TablePolicies,
  type TableSchema,
} from '@rockpool/shared';

/** Rows per SELECT: one statement per row takes three times as long. */
export const ROWS_PER_SELECT = 64;

/**
 * A synced table with the SQL that admission and deliveries use. Names in SQL come from the schema, never from a frame.
 */
export interface StoredTable {
  readonly schema: TableSchema;
  /** A system table of Rockpool, which clients read but never write. */
  readonly system: boolean;
  readonly keys: readonly ColumnSchema[];
  readonly values: readonly ColumnSchema[];
  readonly valueById: ReadonlyMap<number, ColumnSchema>;
  /** The ids of `values`. */
  readonly columnIds: readonly number[];
  /** Selects the value columns in schema order by key, or the constant 1 if there are none. */
  readonly selectSql: string;
  /** Selects the rows of ROWS_PER_SELECT keys. The last column is the position of the key in the parameters. */
  readonly selectBatchSql: string;
  readonly deleteSql: string;
  /** Parameters: the parts of the key, then the value columns in schema order. */
  readonly insertSql: string;
  /** The values that its columns accept. */
  readonly domain: TableDomain;
  /** Columns whose new value can collide with another row. Null if the new value of any column can. */
  readonly uniqueColumnIds: ReadonlySet<number> | null;
  /** The columns of foreign keys with the rule `set-null`. */
  readonly nulledColumnIds: ReadonlySet<number>;
  /** The merge rules; documents/document-merge.ts binds the policies of documents to their row. */
  readonly rules: RowRules;
  /**
   * The rules of the document columns, by id. A merge works on document states (shared/document); the app's table
   * stores their JSON.
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
    selectBatchSql: selectBatch(name, keys, values),
    insertSql: insertInto(
      schema.name,
      [...keys, ...values].map((column) => column.name),
    ),
    deleteSql: `DELETE FROM ${name} WHERE ${whereKey}`,
    domain: tableDomain(schema),
    uniqueColumnIds: uniqueColumnIds(schema, values),
    nulledColumnIds: nulledColumnIds(schema, values),
    rules: { deleteRule: schema.merge.deleteRule, policies: namingPolicies(schema) },
    documents,
  };
}

/** The policies of a table, whose merges name the table and the column in their errors. */
function namingPolicies(schema: TableSchema): TablePolicies {
  const { byColumn, ...others } = policiesOf(schema);
  const nameOf = new Map(schema.columns.map(({ id, name }) => [id, name]));
  const naming = [...byColumn].map(([columnId, policy]): [number, ColumnPolicy] => {
    const { merge } = policy;
    if (merge === undefined) return [columnId, policy];
    const place = { table: schema.name, column: nameOf.get(columnId) ?? '' };
    return [columnId, { ...policy, merge: (write) => named(place, () => merge(write)) }];
  });
  return { ...others, byColumn: new Map(naming) };
}

function named<Result>(place: ColumnPlace, body: () => Result): Result {
  try {
    return body();
  } catch (cause) {
    if (!(cause instanceof RockpoolError)) throw cause;
    throw new RockpoolError(cause.code, { ...cause.fields, ...place }, { cause });
  }
}

/** CROSS JOIN makes the keys the outer loop, so that SQLite looks up the table by its index. */
function selectBatch(name: string, keys: readonly ColumnSchema[], values: readonly ColumnSchema[]): string {
  const keyRows = Array.from({ length: ROWS_PER_SELECT }, (_, at) => `(${at}${', ?'.repeat(keys.length)})`).join(', ');
  const matchesKey = keys
    .map(
      (column, k) =>
        `${name}.${quoteName(column.name)} = rockpool_key.column${k + 2} AND typeof(${name}.${quoteName(column.name)}) = typeof(rockpool_key.column${k + 2})`,
    )
    .join(' AND ');
  const selected = [...values.map((column) => `${name}.${quoteName(column.name)}`), 'rockpool_key.column1'].join(', ');
  return `SELECT ${selected} FROM (VALUES ${keyRows}) AS rockpool_key CROSS JOIN ${name} ON ${matchesKey}`;
}

/**
 * An INSERT of some columns. Parameters: the parts of the key, then the values of `columnIds`. `insertSql` is the same
 * for all columns.
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

/** Parameters: the values of `columnIds`, then the parts of the key. */
export function updateSql(table: StoredTable, columnIds: readonly number[]): string {
  const sets = columnIds.map((id) => `${quoteName(columnName(table, id))} = ?`).join(', ');
  return `UPDATE ${quoteName(table.schema.name)} SET ${sets} WHERE ${keyMatchSql(table.schema, { first: columnIds.length + 1 })}`;
}

/**
 * The DDL of the table, its indexes, and an index for each foreign key that lacks one: deleting a parent searches for
 * its children.
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

function nulledColumnIds(schema: TableSchema, values: readonly ColumnSchema[]): ReadonlySet<number> {
  const names = schema.foreignKeys
    .filter((key) => foreignKeyRule(schema, key) === 'set-null')
    .flatMap(({ columns }) => columns);
  return new Set(values.filter(({ name }) => names.includes(name)).map(({ id }) => id));
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
