import {
  keyColumns,
  valueColumns,
  type CellValue,
  type ColumnSchema,
  type Schema,
  type TableSchema,
} from '@rockpool/shared';
import type { Connection } from '../sqlite/connection.ts';

/** A column as it lies in the file. */
export interface CaptureColumn {
  readonly name: string;
  /** Null for a column that the schema does not know: it is never captured. */
  readonly columnId: number | null;
}

/**
 * How a synced table lies in the file. SQLite's sessions give values by position, and positions in the file differ from
 * the schema's order once columns have been added.
 */
export interface CaptureTable {
  readonly schema: TableSchema;
  /** The stored columns (generated ones are left out), in the order of the file. */
  readonly columns: readonly CaptureColumn[];
  /** Positions in `columns` of the key's parts, in key order. */
  readonly keyPositions: readonly number[];
  /** Positions in `columns` of what travels beside the key, in schema order. */
  readonly valuePositions: readonly number[];
  /** In the order of `valuePositions`. */
  readonly valueColumnIds: readonly number[];
  /**
   * Of columns that the app does not know: their literal defaults, by place in `valuePositions`. An insert does not
   * name a column that has its default: server and other devices have the same one, and a server that does not know the
   * column yet takes the insert as well.
   */
  readonly omittedDefaults: ReadonlyMap<number, CellValue>;
}

// `hidden` in PRAGMA table_xinfo: 0 for an ordinary column, 2 and 3 for virtual and stored generated ones.
const ORDINARY = 0;

/** `appSchema`: of the bundle that writes; the table may have more. Default: the same. */
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
    if (position < 0) throw new Error(`table ${schema.name} has no column ${name} in the file`);
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

/** The same on every device at every time; an expression such as CURRENT_TIMESTAMP is not. */
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

/** As the column stores it: '1' in a column of text. */
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
