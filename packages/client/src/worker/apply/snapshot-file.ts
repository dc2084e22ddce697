import { quoteName, type SnapshotPosition, type TableSchema } from '@rockpool/shared';
import type { Connection } from '../sqlite/connection.ts';

/** A snapshot file beside the database: the server's rows at one watermark. */
export interface SnapshotFile {
  readonly position: SnapshotPosition;
  /** Path in the VFS of the database. */
  readonly path: string;
}

// The schema name of the attached snapshot file.
const FILE = 'rockpool_file';

/** A table by name, with the names of its key columns and of all stored columns. */
type ComparedTable = { readonly name: string; readonly keys: readonly string[]; readonly columns: readonly string[] };

const DOCUMENTS: ComparedTable = {
  name: 'rockpool_document',
  keys: ['table_id', 'key', 'column_id'],
  columns: ['table_id', 'key', 'column_id', 'state'],
};

/** Runs the body with the snapshot file attached. The body must not write to it. Call it outside a transaction. */
export function withSnapshotFile<T>(connection: Connection, path: string, body: () => T): T {
  connection.run(`ATTACH ? AS ${FILE}`, path);
  try {
    // Without a journal file, the attached file does not take part in the commit: only the main file is committed, as
    // usual.
    connection.exec(`PRAGMA ${FILE}.journal_mode = MEMORY`);
    return body();
  } finally {
    connection.dropIdleStatements();
    connection.exec(`DETACH ${FILE}`);
  }
}

/**
 * Makes the tables and document states equal to those of the attached file, in a transaction with triggers and foreign
 * keys off. Writes only rows that differ. Changed rows are deleted and then inserted, so unique keys may have been
 * swapped. Returns the names of the tables that differed.
 */
export function copySnapshotRows(connection: Connection, tables: Iterable<TableSchema>): Set<string> {
  const differing = new Set<string>();
  for (const table of [...tables].map(toComparedTable)) if (copyTable(connection, table)) differing.add(table.name);
  copyTable(connection, DOCUMENTS);
  return differing;
}

function toComparedTable({ name, primaryKey, columns }: TableSchema): ComparedTable {
  return {
    name,
    keys: primaryKey,
    columns: columns.filter(({ generated }) => generated === null).map((column) => column.name),
  };
}

function copyTable(connection: Connection, { name, keys, columns }: ComparedTable): boolean {
  const table = quoteName(name);
  const hasKey = keys.map((key) => `theirs.${quoteName(key)} = mine.${quoteName(key)}`).join(' AND ');
  // SQLite considers 1 and 1.0 equal, but they are different values.
  const isEqual = columns
    .map(quoteName)
    .map((column) => `theirs.${column} IS mine.${column} AND typeof(theirs.${column}) = typeof(mine.${column})`);
  connection.run(
    `DELETE FROM main.${table} AS mine WHERE NOT EXISTS (SELECT 1 FROM ${FILE}.${table} AS theirs WHERE ${[hasKey, ...isEqual].join(' AND ')})`,
  );
  const { changes: deleted } = connection;
  const all = columns.map(quoteName).join(', ');
  connection.run(
    `INSERT INTO main.${table} (${all}) SELECT ${all} FROM ${FILE}.${table} AS theirs WHERE NOT EXISTS (SELECT 1 FROM main.${table} AS mine WHERE ${hasKey})`,
  );
  return deleted + connection.changes > 0;
}
