import {
  encodeKey,
  keyColumns,
  keyMatchSql,
  quoteName,
  RockpoolError,
  valueColumns,
  type CellValue,
  type Schema,
  type TableSchema,
} from '@rockpool/shared';
import type { SqlStatement } from '../rpc/sql-statement.ts';
import type { SqlValue } from '../rpc/sql-value.ts';

/** The row of a history. */
export interface HistoryRow {
  readonly table: TableSchema;
  readonly key: readonly SqlValue[];
  /** The key in the form of the changelog and the server. */
  readonly keyBytes: Uint8Array;
}

/** Throws `schema-unknown-table`, `history-not-kept` and `key-invalid`. */
export function historyRow(schema: Schema, tableName: string, key: readonly SqlValue[]): HistoryRow {
  const table = schema.tables.find(({ name, synced }) => synced && name === tableName);
  if (table === undefined) throw new RockpoolError('schema-unknown-table', { table: tableName });
  if (table.history === undefined) throw new RockpoolError('history-not-kept', { table: tableName });
  const columns = keyColumns(table);
  if (key.length !== columns.length)
    throw new RockpoolError('key-invalid', { table: tableName, parts: columns.length, given: key.length });
  const parts = columns.map(({ type }, index): CellValue => {
    const part = key[index] as SqlValue;
    const isInteger = typeof part === 'number' && Number.isInteger(part) && (type === 'integer' || type === 'numeric');
    return isInteger ? BigInt(part) : part;
  });
  return { table, key, keyBytes: encodeKey(parts) };
}

/** The query string that names the row to the server. */
export function rowQuery({ table, keyBytes }: HistoryRow): string {
  const base64 = btoa(String.fromCharCode(...keyBytes));
  const key = base64.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
  return `table=${encodeURIComponent(table.name)}&key=${key}`;
}

/** Selects the current row on this device. */
export function selectRow({ table, key }: HistoryRow): SqlStatement {
  return { sql: `SELECT * FROM ${quoteName(table.name)} WHERE ${keyMatchSql(table)}`, params: key };
}

/** Converts a stored value to its form in results. */
export function toSqlValue(value: CellValue): SqlValue {
  return typeof value === 'bigint' && Number.isSafeInteger(Number(value)) ? Number(value) : value;
}

/**
 * The statement that writes these values to the row; null deletes it. With `columns`, writes only those columns of an
 * existing row. Throws `schema-unknown-column`.
 */
export function restoreStatement(
  { table, key }: HistoryRow,
  values: Readonly<Record<string, SqlValue>> | null,
  columns: readonly string[] | undefined,
): SqlStatement {
  const name = quoteName(table.name);
  if (values === null) return { sql: `DELETE FROM ${name} WHERE ${keyMatchSql(table)}`, params: key };
  const known = valueColumns(table).map((column) => column.name);
  for (const column of columns ?? [])
    if (!known.includes(column)) throw new RockpoolError('schema-unknown-column', { table: table.name, column });
  const restored = (columns ?? known).filter((column) => Object.hasOwn(values, column));
  const params = restored.map((column) => values[column] as SqlValue);
  if (columns !== undefined) {
    const sets = restored.map((column) => `${quoteName(column)} = ?`).join(', ');
    const where = keyMatchSql(table, { first: restored.length + 1 });
    return { sql: `UPDATE ${name} SET ${sets} WHERE ${where}`, params: [...params, ...key] };
  }
  const names = [...table.primaryKey, ...restored].map(quoteName);
  const sets = restored.map((column) => `${quoteName(column)} = excluded.${quoteName(column)}`);
  const conflict = sets.length === 0 ? 'DO NOTHING' : `DO UPDATE SET ${sets.join(', ')}`;
  return {
    sql: `INSERT INTO ${name} (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')}) ON CONFLICT (${table.primaryKey.map(quoteName).join(', ')}) ${conflict}`,
    params: [...key, ...params],
  };
}
