import { decodeKey, encodeKey, quoteName, RockpoolError, type CellValue, type Schema } from '@rockpool/shared';
import { openDatabaseFile } from '../database-file.ts';
import type { SqliteFile } from '../../sqlite/sqlite-file.ts';
import { NAMESPACE } from '../../postgres/connection.ts';
import { typedTableToDdl } from './typed-table.ts';

/** The first column of every table and key, so that rows can be partitioned by it. */
export const DATABASE_COLUMN = 'database_id';

export interface MirroredColumn {
  readonly name: string;
  readonly type: PostgresType;
  readonly notNull: boolean;
  readonly isKey: boolean;
  /** A default expression in SQLite's SQL, or null. */
  readonly defaultSql: string | null;
}

/** A table of a database file that PostgreSQL mirrors, in one table for all databases. */
export interface MirroredTable {
  readonly name: string;
  /** The columns in the order of SQLite's session extension, without generated columns. */
  readonly columns: readonly MirroredColumn[];
}

/** `anything` is a `bytea` that holds a value with its type, encoded like a key. */
type PostgresType = 'bigint' | 'double precision' | 'text' | 'bytea' | 'numeric' | 'anything';

const TYPES: Readonly<Record<string, PostgresType>> = {
  INTEGER: 'bigint',
  REAL: 'double precision',
  TEXT: 'text',
  BLOB: 'bytea',
  NUMERIC: 'numeric',
};

/** Columns of Rockpool's tables that contain values of any type. */
const ANYTHING: ReadonlySet<string> = new Set([
  'rockpool_meta.value',
  'rockpool_conflict.lost_value',
  'rockpool_conflict.won_value',
]);

/** PostgreSQL truncates longer names, so two of them could collide. */
const MAX_NAME_BYTES = 63;
const RESERVED_COLUMNS: ReadonlySet<string> = new Set([
  DATABASE_COLUMN,
  'tableoid',
  'xmin',
  'cmin',
  'xmax',
  'cmax',
  'ctid',
]);

/**
 * Returns the tables that PostgreSQL needs for databases of a schema. Throws `schema-incompatible` if PostgreSQL cannot
 * store them.
 */
export function mirroredTables(schema: Schema): MirroredTable[] {
  const { sql } = openDatabaseFile(':memory:', schema, { toDdl: typedTableToDdl });
  try {
    const tables = sql
      .all(
        `SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name`,
      )
      .map(([name]) => readTable(sql, name as string));
    const problems = tables.flatMap(nameProblems);
    if (problems.length > 0)
      throw new RockpoolError('schema-incompatible', { count: problems.length, problems: problems.join('\n') });
    return tables;
  } finally {
    sql.close();
  }
}

function readTable(sql: SqliteFile, name: string): MirroredTable {
  const columns = sql
    .all('SELECT name, type, "notnull", dflt_value, pk FROM pragma_table_xinfo(?) WHERE hidden = 0 ORDER BY cid', name)
    .map(([column, type, notNull, defaultSql, key]): MirroredColumn => {
      const isKey = key !== 0n;
      return {
        name: column as string,
        type: ANYTHING.has(`${name}.${column as string}`) ? 'anything' : (TYPES[type as string] ?? 'bytea'),
        notNull: isKey || notNull === 1n,
        isKey,
        defaultSql: defaultSql as string | null,
      };
    });
  return { name, columns };
}

function nameProblems({ name, columns }: MirroredTable): string[] {
  const tooLong = [name, ...columns.map((column) => column.name)].filter(
    (one) => Buffer.byteLength(one) > MAX_NAME_BYTES,
  );
  const reserved = columns.filter((column) => RESERVED_COLUMNS.has(column.name.toLowerCase()));
  return [
    ...tooLong.map(
      (one) => `${name}: ${one} is longer than the ${MAX_NAME_BYTES} bytes that PostgreSQL allows in a name`,
    ),
    ...reserved.map((column) => `${name}: the column name ${column.name} is reserved in PostgreSQL`),
  ];
}

export function qualifiedName(table: string): string {
  return `${NAMESPACE}.${quoteName(table)}`;
}

/** The type as written in DDL and casts. */
export function sqlType({ type }: MirroredColumn): string {
  return type === 'anything' ? 'bytea' : type;
}

/** A value in PostgreSQL's text format; null for NULL. */
export function toPostgresText({ type }: MirroredColumn, value: CellValue): string | null {
  if (value === null) return null;
  if (type === 'anything') return hexText(encodeKey([value]));
  if (value instanceof Uint8Array) return hexText(value);
  // Converting a number to text and back is exact, except for the sign of zero.
  return Object.is(value, -0) ? '-0' : String(value);
}

function hexText(bytes: Uint8Array): string {
  return `\\x${Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex')}`;
}

/**
 * Converts a value from the driver to the value that SQLite stores. SQLite itself converts the text of a NUMERIC column
 * to a number.
 */
export function fromPostgres({ type }: MirroredColumn, value: unknown): CellValue {
  if (value === null) return null;
  if (type === 'bigint') return BigInt(value as string);
  // The driver's Buffers share memory, so the bytes are copied.
  const plain = value instanceof Uint8Array ? new Uint8Array(value) : value;
  return type === 'anything' ? (decodeKey(plain as Uint8Array)[0] ?? null) : (plain as CellValue);
}
