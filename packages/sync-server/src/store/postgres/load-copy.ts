import { quoteName, RockpoolError, type CellValue, type Schema } from '@rockpool/shared';
import type { DatabaseFile } from '../database-file.ts';
import { resyncFile } from '../durability.ts';
import { type Connection, type Connections, NAMESPACE } from '../../postgres/connection.ts';
import { DatabaseMarked, MARK_COLUMNS, readMark } from './move-mark.ts';
import { STORAGE_FORMAT } from '../../sqlite/internal-tables.ts';
import { DATABASE_COLUMN, fromPostgres, qualifiedName, type MirroredTable } from './mirrored-table.ts';
import type { StoredTables } from './prepare-schema.ts';
import { bytesOf, PART_BYTES } from './row-parts.ts';
import { insertRow, type CommitPosition } from './working-copy.ts';

/** Bounds of the rows that are in memory at a time. The first fetch of a table shows how large its rows are. */
const FIRST_ROWS = 100;
const MAX_ROWS_PER_FETCH = 2_000;

/**
 * Entries of rockpool_meta that belong to the instance instead of the database. They are never written to PostgreSQL.
 */
export const OWN_META: readonly string[] = ['storage_format', 'schema'];

/**
 * Fills a new file with the state of a database in PostgreSQL at one moment. Returns null if PostgreSQL has no database
 * with this id. Throws SchemaChanged and DatabaseMarked.
 */
export async function loadCopy(
  connections: Connections,
  databaseId: string,
  file: DatabaseFile,
  { schema, byName }: StoredTables,
): Promise<CommitPosition | null> {
  return connections.transaction(databaseId, 'REPEATABLE READ, READ ONLY', async (connection) => {
    await requireSchema(connection, schema);
    const [[head, commitId, moveId, role] = []] = await connection.query(
      `SELECT head, commit_id, ${MARK_COLUMNS} FROM ${NAMESPACE}.rockpool_database WHERE id = $1`,
      [databaseId],
    );
    if (head === undefined) return { commit: false, result: null };
    const mark = readMark(moveId, role);
    if (mark !== null) throw new DatabaseMarked(mark);
    const { sql } = file;
    sql.exec(
      `BEGIN; DELETE FROM rockpool_meta WHERE name NOT IN (${OWN_META.map((name) => `'${name}'`).join()}); DELETE FROM rockpool_site`,
    );
    try {
      for (const table of byName.values())
        for await (const row of storedRows(connection, databaseId, table)) insertRow(file, table, row);
      sql.exec('COMMIT');
    } catch (error) {
      sql.exec('ROLLBACK');
      throw error;
    }
    resyncFile(file);
    return { commit: false, result: { head: Number(head), commitId: commitId as Uint8Array } };
  });
}

/** Another instance has migrated the tables. The copies of this instance lack columns, and have to be built again. */
export class SchemaChanged extends RockpoolError {
  constructor() {
    super('database-unavailable', { problem: 'another instance has migrated the tables' });
  }
}

/** The hash of the schema of the tables, as a scalar subquery. NULL if a different version has changed their format. */
export const SCHEMA_HASH_SQL: string = `(SELECT schema_hash FROM ${NAMESPACE}.rockpool_store WHERE storage_format = ${STORAGE_FORMAT})`;

/** Throws SchemaChanged if the tables no longer have this schema in the snapshot of this transaction. */
export async function requireSchema(connection: Connection, schema: Schema): Promise<void> {
  const [[hash] = []] = await connection.query(`SELECT ${SCHEMA_HASH_SQL}`);
  if (hash !== schema.hash) throw new SchemaChanged();
}

/** Reads the rows of a table of a database, in parts. Call it inside a transaction. */
export async function* storedRows(
  connection: Connection,
  databaseId: string,
  table: MirroredTable,
): AsyncGenerator<CellValue[]> {
  const columns = table.columns.map(({ name }) => quoteName(name)).join(', ');
  // A cursor takes no parameters. The id contains only letters, digits, _ and -.
  await connection.query(
    `DECLARE stored NO SCROLL CURSOR FOR SELECT ${columns} FROM ${qualifiedName(table.name)} WHERE ${DATABASE_COLUMN} = '${databaseId.replaceAll("'", "''")}'`,
  );
  for (let count = FIRST_ROWS; ;) {
    const rows = await connection.query(`FETCH FORWARD ${count} FROM stored`);
    let bytes = 0;
    for (const row of rows) {
      const values = table.columns.map((column, i) => fromPostgres(column, row[i]));
      bytes += bytesOf(values);
      yield values;
    }
    if (rows.length < count) break;
    count = Math.max(1, Math.min(MAX_ROWS_PER_FETCH, Math.floor((count * PART_BYTES) / bytes)));
  }
  await connection.query('CLOSE stored');
}
