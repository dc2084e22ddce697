import {
  CONFLICT_TABLE_NAME,
  hexToBytes,
  keyColumns,
  keyMatchSql,
  policyOf,
  quoteName,
  RockpoolError,
  valueColumns,
  type CellValue,
  type ColumnSchema,
  type Schema,
  type TableSchema,
} from '@rockpool/shared';
import type { DocumentPath, JsonValue } from '@rockpool/shared/document';
import { documentSupport } from '../documents/load-document-support.ts';
import type { Connection } from '../sqlite/connection.ts';

/** One entry of the conflict log. */
interface Conflict {
  readonly tableName: string;
  readonly rowKey: string;
  /** Null if the delete of the row lost (`update-wins`), or if the lost row has only key columns (`cascade`). */
  readonly columnName: string | null;
  readonly rule: string;
  readonly watermark: number;
  readonly value: CellValue;
  /** A path in a document, as JSON; null for the whole column. */
  readonly path: string | null;
}

/**
 * Restores the value that lost in an entry of the conflict log, as a new edit, in an open and captured transaction:
 * - a value that lost to another (`lww`, `one-insert-wins`): writes its cell, and the other columns of its group;
 * - a reference that is NULL because its parent is deleted (`set-null`): writes all columns of the foreign key, which
 *   fails with `constraint-foreign-key` while the parent is missing;
 * - values lost with a deleted row (`delete-wins`, `cascade`): writes all values that the log has of that row and
 *   watermark. A missing row is inserted again, with defaults for other columns; so is a row with only key columns;
 * - a value that lost its place in a document: writes that place in the current document;
 * - a delete that lost to an update (`update-wins`): deletes the row.
 *
 * Throws `conflict-not-restorable` with `problem`
 * - `unknown`: the entry does not exist or is no longer kept
 * - `schema`: the app no longer has the table or column
 * - `row-gone`: the row of the value, or its place in the document, is gone
 * - `unnamed-element`: the place is in an element without a name, and another element may have its index now
 * - `counter`: counters add up, and the log does not record whether the lost value is a delta or a total
 * - `incomplete`: the row needs values that the log does not have
 */
export function restoreConflict(connection: Connection, schema: Schema, id: string): void {
  const conflict = readConflicts(connection, 'id = ?', [id])[0];
  if (conflict === undefined) throw notRestorable('unknown');
  const table = schema.tables.find(({ name, synced }) => synced && name === conflict.tableName);
  if (table === undefined) throw notRestorable('schema', { table: conflict.tableName });
  const key = readKey(table, conflict.rowKey);
  const rowWasLost = conflict.rule === 'delete-wins' || conflict.rule === 'cascade';
  if (conflict.columnName === null && !rowWasLost) return deleteRow(connection, table, key);
  if (conflict.path !== null)
    return restorePlace(connection, table, key, conflict, JSON.parse(conflict.path) as DocumentPath);
  const values = rowWasLost ? lostWithRow(connection, table, conflict) : lostWithValue(connection, table, conflict);
  if (updateRow(connection, table, key, values)) return;
  if (!rowWasLost) throw notRestorable('row-gone');
  insertRow(connection, table, key, values);
}

function deleteRow(connection: Connection, table: TableSchema, key: readonly CellValue[]): void {
  if (run(connection, `DELETE FROM ${nameOf(table)} WHERE ${keyMatchSql(table)}`, key) === 0)
    throw notRestorable('row-gone');
}

/** Returns false if the row does not exist or there is nothing to write. */
function updateRow(
  connection: Connection,
  table: TableSchema,
  key: readonly CellValue[],
  values: ReadonlyMap<string, CellValue>,
): boolean {
  if (values.size === 0) return false;
  const assignments = [...values.keys()].map((name) => `${quoteName(name)} = ?`).join(', ');
  const where = keyMatchSql(table, { first: values.size + 1 });
  return run(connection, `UPDATE ${nameOf(table)} SET ${assignments} WHERE ${where}`, [...values.values(), ...key]) > 0;
}

function insertRow(
  connection: Connection,
  table: TableSchema,
  key: readonly CellValue[],
  values: ReadonlyMap<string, CellValue>,
): void {
  const names = [...table.primaryKey, ...values.keys()];
  const parameters = names.map(() => '?').join(', ');
  try {
    run(connection, `INSERT INTO ${nameOf(table)} (${names.map(quoteName).join(', ')}) VALUES (${parameters})`, [
      ...key,
      ...values.values(),
    ]);
  } catch (cause) {
    if (!(cause instanceof RockpoolError) || cause.code !== 'constraint-not-null') throw cause;
    throw notRestorable('incomplete', cause.fields, cause);
  }
}

function restorePlace(
  connection: Connection,
  table: TableSchema,
  key: readonly CellValue[],
  { columnName, value }: Conflict,
  path: DocumentPath,
): void {
  const { canonicalJson, withValueAt } = documentSupport();
  const column = quoteName(requireColumn(table, columnName).name);
  if (path.some((step) => typeof step === 'number')) throw notRestorable('unnamed-element');
  const text = connection.value(`SELECT ${column} FROM ${nameOf(table)} WHERE ${keyMatchSql(table)}`, ...key);
  const restored =
    typeof text === 'string' && typeof value === 'string'
      ? withValueAt(JSON.parse(text) as JsonValue, path, JSON.parse(value) as JsonValue)
      : undefined;
  if (restored === undefined) throw notRestorable('row-gone');
  run(connection, `UPDATE ${nameOf(table)} SET ${column} = ? WHERE ${keyMatchSql(table, { first: 2 })}`, [
    canonicalJson(restored),
    ...key,
  ]);
}

/** The lost value, and the values that lost together with it: those of its group, or of its foreign key. */
function lostWithValue(connection: Connection, table: TableSchema, conflict: Conflict): Map<string, CellValue> {
  const column = requireRestorable(table, conflict.columnName);
  const { together = [] } = policyOf(table, column.id);
  const values = new Map([[column.name, conflict.value]]);
  const isOfForeignKey = (name: string): boolean =>
    table.foreignKeys.some(({ columns }) => columns.includes(name) && columns.includes(column.name));
  for (const other of conflictsOf(connection, conflict)) {
    const mate = table.columns.find(({ name }) => name === other.columnName);
    const isMate =
      mate !== undefined && (together.includes(mate.id) || (conflict.rule === 'set-null' && isOfForeignKey(mate.name)));
    if (isMate && other.rule === conflict.rule) values.set(mate.name, other.value);
  }
  return values;
}

/** All values that the conflict log has of the lost row, except counters, which may be deltas. */
function lostWithRow(connection: Connection, table: TableSchema, conflict: Conflict): Map<string, CellValue> {
  if (conflict.columnName === null) return new Map();
  requireRestorable(table, conflict.columnName);
  const restorable = valueColumns(table).filter(({ id }) => policyOf(table, id).refusesRestore === undefined);
  return new Map(
    // An entry with a path is an edit of a deleted document, which has no value.
    conflictsOf(connection, conflict).flatMap(({ columnName, rule, value, path }) =>
      rule === conflict.rule && path === null && restorable.some(({ name }) => name === columnName)
        ? [[columnName as string, value] as const]
        : [],
    ),
  );
}

/** The conflicts of the same row from the same admission. */
function conflictsOf(connection: Connection, { tableName, rowKey, watermark }: Conflict): Conflict[] {
  return readConflicts(connection, 'table_name = ? AND row_key = ? AND watermark = ?', [
    tableName,
    rowKey,
    BigInt(watermark),
  ]);
}

function readConflicts(connection: Connection, where: string, parameters: readonly CellValue[]): Conflict[] {
  const statement = connection.prepare(
    `SELECT table_name, row_key, column_name, rule, watermark, lost_value, path FROM main.${CONFLICT_TABLE_NAME} WHERE ${where} ORDER BY id`,
  );
  try {
    parameters.forEach((value, index) => statement.bindCell(index + 1, value));
    const conflicts: Conflict[] = [];
    while (statement.step()) {
      const [tableName, rowKey, columnName, rule, watermark, value, path] = statement.readCells() as [
        string,
        string,
        string | null,
        string,
        bigint,
        CellValue,
        string | null,
      ];
      conflicts.push({ tableName, rowKey, columnName, rule, watermark: Number(watermark), value, path });
    }
    return conflicts;
  } finally {
    statement.release();
  }
}

/** The conflict log's JSON contains integers as text and blobs as hex. */
function readKey(table: TableSchema, json: string): CellValue[] {
  const parts = JSON.parse(json) as unknown[];
  return keyColumns(table).map(({ type }, index) => {
    const part = parts[index];
    if (typeof part !== 'string') return part as CellValue;
    if (type === 'integer' && /^-?\d+$/.test(part)) return BigInt(part);
    return type === 'blob' ? hexToBytes(part) : part;
  });
}

function run(connection: Connection, sql: string, cells: readonly CellValue[]): number {
  const statement = connection.prepare(sql);
  try {
    statement.runCells(...cells);
    return connection.changes;
  } finally {
    statement.release();
  }
}

function requireColumn(table: TableSchema, name: string | null): ColumnSchema {
  const column = valueColumns(table).find((candidate) => candidate.name === name);
  if (column === undefined) throw notRestorable('schema', { table: table.name, column: name ?? '' });
  return column;
}

/** Throws if the column no longer exists, or if its policy does not restore lost values. */
function requireRestorable(table: TableSchema, name: string | null): ColumnSchema {
  const column = requireColumn(table, name);
  const { refusesRestore } = policyOf(table, column.id);
  if (refusesRestore !== undefined) throw notRestorable(refusesRestore, { table: table.name, column: column.name });
  return column;
}

function nameOf(table: TableSchema): string {
  return `main.${quoteName(table.name)}`;
}

function notRestorable(
  problem: string,
  fields: Readonly<Record<string, string | number | boolean | null>> = {},
  cause?: unknown,
): RockpoolError {
  return new RockpoolError('conflict-not-restorable', { ...fields, problem }, { cause });
}
