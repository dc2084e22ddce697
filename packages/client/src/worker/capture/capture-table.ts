import { keyColumns, valueColumns, type TableSchema } from '@rockpool/shared';
import type { Connection } from '../sqlite/connection.ts';

/** A column as it lies in the file. */
export interface CaptureColumn {
  readonly name: string;
  /** Null for a column that the schema does not know: it is never captured. */
  readonly columnId: number | null;
}

/**
 * How a synced table lies in the file. SQLite's sessions give values by position, and positions in the file differ from the schema's order
 * once columns have been added.
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
}

// `hidden` in PRAGMA table_xinfo: 0 for an ordinary column, 2 and 3 for virtual and stored generated ones.
const ORDINARY = 0;

export function readCaptureTable(connection: Connection, schema: TableSchema): CaptureTable {
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
  };
}
