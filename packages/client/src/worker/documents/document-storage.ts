import { quoteName, type DocumentStorage, type Schema } from '@rockpool/shared';
import { locatedTokens, type LocatedToken } from '../file/sql-tokens.ts';
import type { Connection } from '../sqlite/connection.ts';

/** The declared type of a column that SQL reads as text and that is stored as JSONB (sqlite/json-storage.c). */
const BINARY_JSON = 'TEXT JSONB';

/**
 * Changes the storage of each document column to the one that its rule states, if they differ: after a change of the
 * rule, in tables that migrations created, and in files of the server. Call it outside of a transaction.
 */
export function storeDocuments(connection: Connection, { tables }: Pick<Schema, 'tables'>): void {
  for (const { name, merge } of tables) {
    for (const { column, storage = 'text' } of merge.documents) {
      const type = connection.value(`SELECT type FROM pragma_table_xinfo(?, 'main') WHERE name = ?`, name, column);
      if ((type === BINARY_JSON) !== (storage === 'binary')) setDocumentStorage(connection, name, column, storage);
    }
  }
}

/** SQL reads the same text before and after, so no trigger fires and nothing is captured. */
function setDocumentStorage(connection: Connection, table: string, column: string, storage: DocumentStorage): void {
  const [name, quoted] = [quoteName(table), quoteName(column)];
  connection.setTriggers(false);
  connection.setDefensive(false);
  try {
    connection.exec('BEGIN IMMEDIATE');
    declareType(connection, table, column, storage === 'binary' ? BINARY_JSON : 'TEXT');
    connection.exec(
      storage === 'binary'
        ? `UPDATE main.${name} SET ${quoted} = ${quoted} WHERE ${quoted} IS NOT NULL`
        : `UPDATE main.${name} SET ${quoted} = json(${quoted}) WHERE typeof(${quoted}) = 'blob'`,
    );
    connection.exec('COMMIT');
  } catch (error) {
    if (connection.inTransaction) connection.exec('ROLLBACK');
    throw error;
  } finally {
    connection.setDefensive(true);
    connection.setTriggers(true);
    connection.dropIdleStatements();
  }
}

/**
 * Replaces the declared type of a column. SQLite has no statement for that, and compares types only by their affinity.
 */
function declareType(connection: Connection, table: string, column: string, type: string): void {
  const isTable = `type = 'table' AND name = ?`;
  const sql = connection.value(`SELECT sql FROM main.sqlite_schema WHERE ${isTable}`, table) as string;
  const version = connection.value('PRAGMA main.schema_version') as number;
  connection.exec('PRAGMA writable_schema = ON');
  try {
    connection.run(`UPDATE main.sqlite_schema SET sql = ? WHERE ${isTable}`, withType(sql, column, type), table);
    // Makes other connections read the schema again.
    connection.exec(`PRAGMA main.schema_version = ${version + 1}`);
  } finally {
    connection.exec('PRAGMA writable_schema = RESET');
  }
}

/** What may follow the type of a column. */
const AFTER_TYPE = new Set(
  'constraint primary not null unique check default collate references generated as , )'.split(' '),
);

/** Returns the CREATE TABLE statement `sql` with a different type for the column. */
export function withType(sql: string, column: string, type: string): string {
  const tokens = locatedTokens(sql);
  const at = nameAt(tokens, column.toLowerCase());
  const name = tokens[at] as LocatedToken;
  let last = at;
  for (let depth = 0; depth > 0 || !AFTER_TYPE.has(tokens[last + 1]?.token ?? ')'); last++) {
    if (tokens[last + 1]?.token === '(') depth++;
    if (tokens[last + 1]?.token === ')') depth--;
  }
  return `${sql.slice(0, name.end)} ${type}${sql.slice((tokens[last] as LocatedToken).end)}`;
}

/** The position of a column's name, which begins its definition. */
function nameAt(tokens: readonly LocatedToken[], column: string): number {
  let depth = 0;
  return tokens.findIndex(({ token }, at) => {
    const before = tokens[at - 1]?.token;
    const beginsDefinition = depth === 1 && (before === '(' || before === ',');
    if (token === '(') depth++;
    if (token === ')') depth--;
    return beginsDefinition && token === column;
  });
}
