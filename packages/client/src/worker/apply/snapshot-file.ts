import { quoteName, type TableSchema } from '@rockpool/shared';
import type { Connection } from '../sqlite/connection.ts';

/** The name under which a snapshot's file is attached. */
const FILE = 'rockpool_file';

/** A table as it is compared: the names of its key and of all that is stored. */
type ComparedTable = { readonly name: string; readonly keys: readonly string[]; readonly columns: readonly string[] };

const DOCUMENTS: ComparedTable = {
  name: 'rockpool_document',
  keys: ['table_id', 'key', 'column_id'],
  columns: ['table_id', 'key', 'column_id', 'state'],
};

/** Runs the body with a snapshot's file at hand, of which nothing is written. Outside of a transaction. */
export function withSnapshotFile<T>(connection: Connection, path: string, body: () => T): T {
  connection.run(`ATTACH ? AS ${FILE}`, path);
  try {
    // It takes no part in the commit, which is then of one file, as any other.
    connection.exec(`PRAGMA ${FILE}.journal_mode = MEMORY`);
    return body();
  } finally {
    connection.dropIdleStatements();
    connection.exec(`DETACH ${FILE}`);
  }
}

/**
 * Makes the tables, and the states of documents, what they are in the file, inside a transaction with triggers and
 * foreign keys off. Only rows that differ are written; those that changed go and come, so that unique keys may have
 * swapped places. Returns the names of the tables in which anything differed.
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
  // To SQLite 1 is 1.0, to us it is not.
  const isEqual = columns
    .map(quoteName)
    .map((column) => `theirs.${column} IS mine.${column} AND typeof(theirs.${column}) = typeof(mine.${column})`);
  connection.run(
    `DELETE FROM main.${table} AS mine WHERE NOT EXISTS (SELECT 1 FROM ${FILE}.${table} AS theirs WHERE ${[hasKey, ...isEqual].join(' AND ')})`,
  );
  const { changes: gone } = connection;
  const all = columns.map(quoteName).join(', ');
  connection.run(
    `INSERT INTO main.${table} (${all}) SELECT ${all} FROM ${FILE}.${table} AS theirs WHERE NOT EXISTS (SELECT 1 FROM main.${table} AS mine WHERE ${hasKey})`,
  );
  return gone + connection.changes > 0;
}
