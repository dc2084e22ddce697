import { decodeSchema, encodeSchema, quoteName, RockpoolError, type Schema } from '@rockpool/shared';
import { STORAGE_FORMAT } from '../../sqlite/internal-tables.ts';
import { schemaAdditions } from '../schema-additions.ts';
import { SqliteFile } from '../../sqlite/sqlite-file.ts';
import { SCHEMA_LOCK, type Connection, type Connections } from '../../postgres/connection.ts';
import { NAMESPACE } from '../../postgres/namespace.ts';
import {
  DATABASE_COLUMN,
  mirroredTables,
  qualifiedName,
  sqlType,
  toPostgresText,
  type MirroredColumn,
  type MirroredTable,
} from './mirrored-table.ts';

/** The tables that PostgreSQL has besides one for each table of a database file. */
const SHARED_TABLES_SQL = `
CREATE TABLE ${NAMESPACE}.rockpool_store (      -- one row
  one boolean PRIMARY KEY DEFAULT true CHECK (one),
  storage_format integer NOT NULL,             -- of the tables (sqlite/internal-tables.ts)
  schema text NOT NULL,                        -- the app's schema, as its build wrote it
  schema_hash text NOT NULL
);

CREATE TABLE ${NAMESPACE}.rockpool_schema (     -- all schemas that the tables have had; their clients are still served
  hash text PRIMARY KEY,
  schema text NOT NULL
);

CREATE TABLE ${NAMESPACE}.rockpool_database (   -- one row per database; the transaction that locks it commits next
  id text COLLATE "C" PRIMARY KEY,
  head bigint NOT NULL,                        -- number of its commits. Set under the lock, so numbers follow the order in which commits become visible
  commit_id bytea NOT NULL,                    -- 16 random bytes, which tell apart two commits with the same head after the log was restored
  leased_by text,                              -- the instance that commits next (lease.ts)
  leased_until timestamptz
);

CREATE TABLE ${NAMESPACE}.rockpool_commit (     -- the last commits, for the working copies of other instances
  ${DATABASE_COLUMN} text COLLATE "C" NOT NULL,
  head bigint NOT NULL,
  commit_id bytea NOT NULL,
  changeset bytea NOT NULL,                    -- in the format of SQLite's session extension
  committed_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (${DATABASE_COLUMN}, head)
);

CREATE TABLE ${NAMESPACE}.rockpool_member (     -- stored roles, which override tokens
  ${DATABASE_COLUMN} text COLLATE "C" NOT NULL,
  principal text COLLATE "C" NOT NULL,
  role text,                                   -- NULL: revoked, whatever role a token has
  written_at timestamptz NOT NULL DEFAULT now(), -- lets other instances find recent changes
  PRIMARY KEY (${DATABASE_COLUMN}, principal)
);
CREATE INDEX rockpool_member_written ON ${NAMESPACE}.rockpool_member (written_at);

CREATE TABLE ${NAMESPACE}.rockpool_invitation (
  code_sha256 bytea PRIMARY KEY,
  ${DATABASE_COLUMN} text COLLATE "C" NOT NULL,
  role text NOT NULL,
  expires_ms bigint NOT NULL,
  invited_by text                              -- the principal who made it; NULL: the program that runs the server
);`;

/**
 * Creates the tables, or migrates them additively to a newer schema, and returns them. One instance at a time does
 * this; the others wait and find it done. Throws `schema-incompatible` for any other difference, also if the instance's
 * schema is older than the tables, and `config-invalid` if PostgreSQL cannot store what SQLite stores.
 */
export async function prepareSchema(
  connections: Connections,
  schema: Schema,
): Promise<ReadonlyMap<string, MirroredTable>> {
  const tables = mirroredTables(schema);
  await connections.transaction(null, 'READ WRITE', async (connection) => {
    await requireSettings(connection);
    await connection.query(`SELECT pg_advisory_xact_lock(${SCHEMA_LOCK})`);
    const [[exists] = []] = await connection.query(`SELECT to_regclass('${NAMESPACE}.rockpool_store') IS NOT NULL`);
    if (exists === true) await migrate(connection, tables, schema);
    else await create(connection, tables, schema);
    await connection.query(
      `INSERT INTO ${NAMESPACE}.rockpool_schema (hash, schema) VALUES ($1, $2) ON CONFLICT DO NOTHING`,
      [schema.hash, encodeSchema(schema)],
    );
    return { commit: true, result: undefined };
  });
  return new Map(tables.map((table) => [table.name, table]));
}

async function requireSettings(connection: Connection): Promise<void> {
  const [[encoding, synchronousCommit] = []] = await connection.query(
    `SELECT current_setting('server_encoding'), current_setting('synchronous_commit')`,
  );
  const problems = [
    ...(encoding === 'UTF8' ? [] : ['the PostgreSQL database does not have the encoding UTF8']),
    // Acknowledgements depend on it.
    ...(synchronousCommit === 'off'
      ? ['PostgreSQL runs with synchronous_commit = off: acknowledged changes may be lost']
      : []),
  ];
  if (problems.length > 0)
    throw new RockpoolError('config-invalid', { count: problems.length, problems: problems.join('\n') });
}

async function create(connection: Connection, tables: readonly MirroredTable[], schema: Schema): Promise<void> {
  await connection.query(
    `CREATE SCHEMA IF NOT EXISTS ${NAMESPACE}; ${SHARED_TABLES_SQL}; ${isolationSql('rockpool_commit')}`,
  );
  for (const table of tables) await connection.query(createTableSql(table));
  await connection.query(
    `INSERT INTO ${NAMESPACE}.rockpool_store (storage_format, schema, schema_hash) VALUES ($1, $2, $3)`,
    [STORAGE_FORMAT, encodeSchema(schema), schema.hash],
  );
}

async function migrate(connection: Connection, tables: readonly MirroredTable[], schema: Schema): Promise<void> {
  const [[storageFormat, stored] = []] = await connection.query(
    `SELECT storage_format, schema FROM ${NAMESPACE}.rockpool_store`,
  );
  const added = TABLES_ADDED_AFTER[storageFormat as number];
  if (added !== undefined) await addTables(connection, tables, added);
  else if (storageFormat !== STORAGE_FORMAT)
    throw new RockpoolError('database-unavailable', {
      problem: 'the tables have another storage format',
      supported: STORAGE_FORMAT,
    });
  // Tables from before commits were pruned by age.
  await connection.query(
    `ALTER TABLE ${NAMESPACE}.rockpool_commit ADD COLUMN IF NOT EXISTS committed_at timestamptz NOT NULL DEFAULT clock_timestamp()`,
  );
  // Tables from before leases.
  await connection.query(
    `ALTER TABLE ${NAMESPACE}.rockpool_database ADD COLUMN IF NOT EXISTS leased_by text, ADD COLUMN IF NOT EXISTS leased_until timestamptz`,
  );
  // Tables from before an invitation ended with the rights of its maker.
  await connection.query(`ALTER TABLE ${NAMESPACE}.rockpool_invitation ADD COLUMN IF NOT EXISTS invited_by text`);
  if (stored === encodeSchema(schema)) return;
  const before = decodeSchema(stored as string);
  schemaAdditions(before, schema); // throws unless the schema only adds
  const old = new Map(mirroredTables(before).map((table) => [table.name, table]));
  for (const table of tables) {
    const known = new Set(old.get(table.name)?.columns.map(({ name }) => name));
    if (!old.has(table.name)) await connection.query(createTableSql(table));
    else
      for (const column of table.columns)
        if (!known.has(column.name)) await connection.query(addColumnSql(table, column));
  }
  await connection.query(`UPDATE ${NAMESPACE}.rockpool_store SET schema = $1, schema_hash = $2`, [
    encodeSchema(schema),
    schema.hash,
  ]);
}

/** The tables that a storage format lacks. 8 is the first one that PostgreSQL had. */
const TABLES_ADDED_AFTER: Readonly<Record<number, readonly string[]>> = {
  8: ['rockpool_origin', 'rockpool_nulled_reference', 'rockpool_history'],
  9: ['rockpool_nulled_reference', 'rockpool_history'],
  10: ['rockpool_history'],
};

async function addTables(
  connection: Connection,
  tables: readonly MirroredTable[],
  names: readonly string[],
): Promise<void> {
  for (const table of tables) if (names.includes(table.name)) await connection.query(createTableSql(table));
  await connection.query(`UPDATE ${NAMESPACE}.rockpool_store SET storage_format = $1`, [STORAGE_FORMAT]);
}

/** CHECK, UNIQUE and foreign keys are SQLite's to decide, and not declared here: docs/decisions. */
function createTableSql({ name, columns }: MirroredTable): string {
  const keys = columns.filter(({ isKey }) => isKey).map((column) => quoteName(column.name));
  const parts = [
    `${DATABASE_COLUMN} text COLLATE "C" NOT NULL`,
    ...columns.map(columnSql),
    `PRIMARY KEY (${[DATABASE_COLUMN, ...keys].join(', ')})`,
  ];
  return `CREATE TABLE ${qualifiedName(name)} (${parts.join(', ')}); ${isolationSql(name)}`;
}

function columnSql(column: MirroredColumn): string {
  const collation = column.isKey && column.type === 'text' ? ' COLLATE "C"' : '';
  return `${quoteName(column.name)} ${sqlType(column)}${collation}${column.notNull ? ' NOT NULL' : ''}`;
}

/**
 * Existing rows get the default that SQLite would give them. The DEFAULT is dropped again, because new rows always come
 * with a value.
 */
function addColumnSql(table: MirroredTable, column: MirroredColumn): string {
  const name = quoteName(column.name);
  const literal = column.defaultSql === null ? null : toPostgresText(column, evaluate(column));
  const add = `ALTER TABLE ${qualifiedName(table.name)} ADD COLUMN ${columnSql(column)}`;
  if (literal === null) return add;
  return `${add} DEFAULT '${literal.replaceAll("'", "''")}'::${sqlType(column)}; ALTER TABLE ${qualifiedName(table.name)} ALTER COLUMN ${name} DROP DEFAULT`;
}

/**
 * Lets SQLite evaluate the default and convert it to the column's type. SQLite only adds columns with constant
 * defaults.
 */
function evaluate({ name, type, defaultSql }: MirroredColumn): ReturnType<SqliteFile['all']>[number][number] {
  const sql = new SqliteFile(':memory:');
  try {
    const declared = {
      bigint: 'INTEGER',
      'double precision': 'REAL',
      text: 'TEXT',
      bytea: 'BLOB',
      anything: 'BLOB',
      numeric: 'NUMERIC',
    }[type];
    sql.exec(
      `CREATE TABLE one (${quoteName(name)} ${declared} DEFAULT (${defaultSql ?? 'NULL'})); INSERT INTO one DEFAULT VALUES`,
    );
    return sql.get('SELECT * FROM one')?.[0] ?? null;
  } finally {
    sql.close();
  }
}

/**
 * The second line of defence: whatever a statement selects, a session that has named one database sees no rows of
 * another.
 */
function isolationSql(table: string): string {
  const name = qualifiedName(table);
  return `ALTER TABLE ${name} ENABLE ROW LEVEL SECURITY; ALTER TABLE ${name} FORCE ROW LEVEL SECURITY;
    CREATE POLICY one_database ON ${name} USING (${DATABASE_COLUMN} = current_setting('rockpool.database', true))`;
}
