import { quoteName, RockpoolError, type CellValue, type Schema } from '@rockpool/shared';
import type { DatabaseFile } from '../database-file.ts';
import { resyncFile } from '../durability.ts';
import type { Connection, Connections } from '../../postgres/connection.ts';
import { NAMESPACE } from '../../postgres/namespace.ts';
import { DATABASE_COLUMN, fromPostgres, qualifiedName, type MirroredTable } from './mirrored-table.ts';
import { insertRow, type CommitPosition } from './working-copy.ts';

/** Limits the rows that are in memory at a time. */
const ROWS_PER_FETCH = 2_000;

/** Entries of rockpool_meta that belong to the instance and not to the database; they never go to PostgreSQL. */
export const OWN_META: readonly string[] = ['storage_format', 'schema'];

/**
 * Fills a new file with the state of a database in PostgreSQL at one moment. Returns null if PostgreSQL has no database
 * with this id.
 */
export async function loadCopy(
  connections: Connections,
  databaseId: string,
  file: DatabaseFile,
  tables: Iterable<MirroredTable>,
  schema: Schema,
): Promise<CommitPosition | null> {
  return connections.transaction(databaseId, 'REPEATABLE READ, READ ONLY', async (connection) => {
    const [[head, commitId, schemaHash] = []] = await connection.query(
      `SELECT head, commit_id, (SELECT schema_hash FROM ${NAMESPACE}.rockpool_store) FROM ${NAMESPACE}.rockpool_database WHERE id = $1`,
      [databaseId],
    );
    if (head === undefined) return { commit: false, result: null };
    requireSchema(schemaHash, schema);
    const { sql } = file;
    sql.exec(
      `BEGIN; DELETE FROM rockpool_meta WHERE name NOT IN (${OWN_META.map((name) => `'${name}'`).join()}); DELETE FROM rockpool_site`,
    );
    try {
      for (const table of tables)
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

/**
 * Throws `database-unavailable` if the tables now have another schema than this instance, which could then ignore
 * columns. Its clients find another instance.
 */
export function requireSchema(stored: unknown, schema: Schema): void {
  if (stored !== schema.hash)
    throw new RockpoolError('database-unavailable', {
      problem: 'another instance has migrated the tables to another schema: restart this instance with that schema',
    });
}

async function* storedRows(
  connection: Connection,
  databaseId: string,
  table: MirroredTable,
): AsyncGenerator<CellValue[]> {
  const columns = table.columns.map(({ name }) => quoteName(name)).join(', ');
  // A cursor takes no parameters. The id contains only letters, digits, _ and -.
  await connection.query(
    `DECLARE stored NO SCROLL CURSOR FOR SELECT ${columns} FROM ${qualifiedName(table.name)} WHERE ${DATABASE_COLUMN} = '${databaseId.replaceAll("'", "''")}'`,
  );
  for (;;) {
    const rows = await connection.query(`FETCH FORWARD ${ROWS_PER_FETCH} FROM stored`);
    for (const row of rows) yield table.columns.map((column, i) => fromPostgres(column, row[i]));
    if (rows.length < ROWS_PER_FETCH) break;
  }
  await connection.query('CLOSE stored');
}
