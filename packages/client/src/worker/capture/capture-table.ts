import {
  keyColumns,
  valueColumns,
  type CellValue,
  type ColumnSchema,
  type Schema,
  type TableSchema,
} from '@rockpool/shared';
import type { Connection } from '../sqlite/connection.ts';

/** A column of the table in the database file. */
export interface CaptureColumn {
  readonly name: string;
  /** Null for a column outside the schema, which is never captured. */
  readonly columnId: number | null;
}

/**
 * The layout of a synced table in the database file. Capture reports values by position, and positions in the file
 * differ from the schema's order once columns have been added.
 */
export interface CaptureTable {
  readonly schema: TableSchema;
  /** The stored columns, without generated ones, in the order of the file. */
  readonly columns: readonly CaptureColumn[];
  /** Positions of the key columns in `columns`, in key order. */
  readonly keyPositions: readonly number[];
  /** Positions of the other synced columns in `columns`, in schema order. */
  readonly valuePositions: readonly number[];
  /** Column ids, in the order of `valuePositions`. */
  readonly valueColumnIds: readonly number[];
  /**
   * The literal defaults of columns unknown to the app's schema, by index in `valuePositions`. An insert omits such a
   * column if it holds its default. The server and other devices have the same default, and a server without the column
   * still accepts the insert.
   */
  readonly omittedDefaults: ReadonlyMap<number, CellValue>;
}

// `hidden` in PRAGMA table_xinfo: 0 for an ordinary column, 2 and 3 for virtual and stored generated ones.
const ORDINARY = 0;

/**
 * Reads the layout of a table. `appSchema` is the schema of the bundle that writes, which may lack columns of the file.
 * Default: it has the same columns.
 */
export function readCaptureTable(
  connection: Connection,
  schema: TableSchema,
  appSchema: Pick<Schema, 'tables'> = { tables: [schema] },
): CaptureTable {
  const rows = connection.rows(`SELECT name, hidden FROM pragma_table_xinfo(?, 'main') ORDER BY cid`, schema.name);
  const columns: CaptureColumn[] = [];
  for (const [name, hidden] of rows) {
    if (hidden !== ORDINARY) continue;
    columns.push({ name: name as string, columnId: schema.columns.find((column) => column.name === name)?.id ?? null });
  }
  const positionOf = ({ name }: { readonly name: string }): number => {
    const position = columns.findIndex((column) => column.name === name);
    if (position < 0) throw new Error(`the file lacks ${schema.name}.${name}`);
    return position;
  };
  const values = valueColumns(schema);
  return {
    schema,
    columns,
    keyPositions: keyColumns(schema).map(positionOf),
    valuePositions: values.map(positionOf),
    valueColumnIds: values.map(({ id }) => id),
    omittedDefaults: readOmittedDefaults(
      connection,
      values,
      appSchema.tables.find(({ name }) => name === schema.name),
    ),
  };
}

/** A default that is the same on every device at any time, unlike an expression such as the current time. */
const LITERAL = /^\s*(?:\(\s*)*(?:NULL|TRUE|FALSE|[-+]?\s*\d+(?:\.\d+)?|X?'(?:[^']|'')*')(?:\s*\))*\s*$/i;

function readOmittedDefaults(
  connection: Connection,
  values: readonly ColumnSchema[],
  app: TableSchema | undefined,
): ReadonlyMap<number, CellValue> {
  const defaults = new Map<number, CellValue>();
  for (const [index, column] of values.entries()) {
    if (app?.columns.some(({ name }) => name === column.name) === true) continue;
    if (column.defaultSql === null) defaults.set(index, null);
    else if (LITERAL.test(column.defaultSql)) defaults.set(index, storedDefault(connection, column));
  }
  return defaults;
}

/** The default as the column stores it, for example '1' in a text column. */
function storedDefault(connection: Connection, { type, defaultSql }: ColumnSchema): CellValue {
  connection.exec(`CREATE TEMP TABLE rockpool_default (value ${type.toUpperCase()} DEFAULT (${defaultSql ?? 'NULL'}))`);
  try {
    connection.exec('INSERT INTO temp.rockpool_default DEFAULT VALUES');
    const statement = connection.prepare('SELECT value FROM temp.rockpool_default');
    try {
      statement.step();
      return statement.readCell(0);
    } finally {
      statement.finalize();
    }
  } finally {
    connection.exec('DROP TABLE temp.rockpool_default');
  }
}
