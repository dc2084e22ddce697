import {
  CONFLICT_TABLE_NAME,
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
  /** Null: it was the delete of the row that lost (`update-wins`), or a row that is a key alone (`cascade`). */
  readonly columnName: string | null;
  readonly rule: string;
  readonly watermark: number;
  readonly value: CellValue;
  /** A place in a document, as JSON; null for the whole column. */
  readonly path: string | null;
}

/**
 * Writes what an entry of the conflict log lost, as an edit of now, in a transaction that is open and captured:
 * - a value that lost to another (`lww`, `one-insert-wins`): into its cell, with the rest of its group of columns;
 * - values that went with a deleted row (`delete-wins`, `cascade`): all that the ledger has of that row and moment,
 *   into the row, which comes back
 *   with defaults for the rest; the same of a row that had no values;
 * - a value that lost its place in a document: into that place, in the document as it is now;
 * - a delete that lost to an update (`update-wins`): the row is deleted.
 *
 * Throws `conflict-not-restorable` with `problem`:
 * - `unknown`: there is no such entry, or it is older than the ledger keeps
 * - `schema`: the app no longer has the table or column
 * - `row-gone`: the row that the value belongs to is not there, or the place in the document
 * - `counter`: counters add up; what one lost may be a difference or a value, and the ledger does not say which
 * - `incomplete`: the row cannot come back without values that the ledger does not have
 */
export function restoreConflict(connection: Connection, schema: Schema, id: string): void {
  const loss = readConflicts(connection, 'id = ?', [id])[0];
  if (loss === undefined) throw notRestorable('unknown');
  const table = schema.tables.find(({ name, synced }) => synced && name === loss.tableName);
  if (table === undefined) throw notRestorable('schema', { table: loss.tableName });
  const key = readKey(table, loss.rowKey);
  const wentWithRow = loss.rule === 'delete-wins' || loss.rule === 'cascade';
  if (loss.columnName === null && !wentWithRow) {
    if (run(connection, `DELETE FROM ${nameOf(table)} WHERE ${keyMatchSql(table)}`, key) === 0)
      throw notRestorable('row-gone');
    return;
  }
  if (loss.path !== null) return restorePlace(connection, table, key, loss, JSON.parse(loss.path) as DocumentPath);
  const values = wentWithRow ? lostWithRow(connection, table, loss) : lostWithValue(connection, table, loss);
  const assignments = [...values.keys()].map((name) => `${quoteName(name)} = ?`).join(', ');
  if (
    values.size > 0 &&
    run(
      connection,
      `UPDATE ${nameOf(table)} SET ${assignments} WHERE ${keyMatchSql(table, { first: values.size + 1 })}`,
      [...values.values(), ...key],
    ) > 0
  )
    return;
  if (!wentWithRow) throw notRestorable('row-gone');
  const names = [...table.primaryKey, ...values.keys()];
  try {
    run(
      connection,
      `INSERT INTO ${nameOf(table)} (${names.map(quoteName).join(', ')}) VALUES (${names.map(() => '?').join(', ')})`,
      [...key, ...values.values()],
    );
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

/** The value and those of its group that lost with it. */
function lostWithValue(connection: Connection, table: TableSchema, loss: Conflict): Map<string, CellValue> {
  const column = requireRestorable(table, loss.columnName);
  const { together = [] } = policyOf(table, column.id);
  const values = new Map([[column.name, loss.value]]);
  for (const other of conflictsOf(connection, loss)) {
    const mate = table.columns.find(({ name }) => name === other.columnName);
    if (mate !== undefined && together.includes(mate.id) && other.rule === loss.rule)
      values.set(mate.name, other.value);
  }
  return values;
}

/**
 * Everything that the ledger has of what was lost with the row; but not counters, of which it may have a difference.
 */
function lostWithRow(connection: Connection, table: TableSchema, loss: Conflict): Map<string, CellValue> {
  if (loss.columnName === null) return new Map();
  requireRestorable(table, loss.columnName);
  const restorable = valueColumns(table).filter(({ id }) => policyOf(table, id).refusesRestore === undefined);
  return new Map(
    // With a path it is an edit of a document that has gone, and its value is not known.
    conflictsOf(connection, loss).flatMap(({ columnName, rule, value, path }) =>
      rule === loss.rule && path === null && restorable.some(({ name }) => name === columnName)
        ? [[columnName as string, value] as const]
        : [],
    ),
  );
}

/** What was lost of this row in the same decision. */
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

/** The ledger's JSON holds integers as text and blobs as hex. */
function readKey(table: TableSchema, json: string): CellValue[] {
  const parts = JSON.parse(json) as unknown[];
  return keyColumns(table).map(({ type }, index) => {
    const part = parts[index];
    if (typeof part !== 'string') return part as CellValue;
    if (type === 'integer' && /^-?\d+$/.test(part)) return BigInt(part);
    return type === 'blob' ? Uint8Array.from(part.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16)) : part;
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

/** Throws where the column's policy does not allow its lost values to be written again. */
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
