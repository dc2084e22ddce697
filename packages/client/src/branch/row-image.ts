import { keyColumns, quoteName, valueColumns, type TableSchema } from '@rockpool/shared';
import type { SqlStatement } from '../rpc/sql-statement.ts';
import type { SqlRow, SqlValue } from '../rpc/sql-value.ts';

/** A row by column, without key and generated columns; null if it does not exist. */
export type RowImage = ReadonlyMap<string, SqlValue> | null;

/** The images of rows of one table, by `keyText`. Rows that do not exist have no entry. */
export type RowImages = ReadonlyMap<string, RowImage>;

export type Query = (statement: SqlStatement) => Promise<SqlRow[]>;

/** Small enough that keys of many columns stay far below SQLite's limit of parameters. */
const ROWS_PER_QUERY = 100;

/** A text that is equal only for equal keys. */
export function keyText(key: readonly SqlValue[]): string {
  return JSON.stringify(
    key.map((part) => (part instanceof Uint8Array ? ['blob', ...part] : [typeof part, String(part)])),
  );
}

/** Identifies a row among the rows of all tables. */
export function rowName({
  table,
  key,
}: {
  readonly table: { readonly name: string };
  readonly key: readonly SqlValue[];
}): string {
  return `${table.name}:${keyText(key)}`;
}

export function sameValue(a: SqlValue, b: SqlValue): boolean {
  if (!(a instanceof Uint8Array && b instanceof Uint8Array)) return a === b;
  return a.length === b.length && a.every((byte, index) => byte === b[index]);
}

/** Reads the rows with these keys. A missing row has no image. */
export async function readRows(
  query: Query,
  table: TableSchema,
  keys: readonly (readonly SqlValue[])[],
): Promise<RowImages> {
  const names = keyColumns(table).map(({ name }) => name);
  const columns = valueColumns(table).map(({ name }) => name);
  const tuple = `(${names.map(() => '?').join(', ')})`;
  const selected = [...names, ...columns].map(quoteName).join(', ');
  const images = new Map<string, RowImage>();
  for (let at = 0; at < keys.length; at += ROWS_PER_QUERY) {
    const chunk = keys.slice(at, at + ROWS_PER_QUERY);
    const rows = await query({
      sql: `SELECT ${selected} FROM ${quoteName(table.name)} WHERE (${names.map(quoteName).join(', ')}) IN (VALUES ${chunk.map(() => tuple).join(', ')})`,
      params: chunk.flat(),
    });
    for (const row of rows)
      images.set(
        keyText(names.map((name) => row[name] as SqlValue)),
        new Map(columns.map((name) => [name, row[name] as SqlValue])),
      );
  }
  return images;
}
