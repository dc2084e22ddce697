import { decodeSchema, encodeSchema, quoteName, RockpoolError, type Schema } from '@rockpool/shared';
import { STORAGE_FORMAT } from '../../sqlite/internal-tables.ts';
import { followedSchema, openedSchema } from '../schema-window.ts';
import { SqliteFile } from '../../sqlite/sqlite-file.ts';
import { SCHEMA_LOCK, type Connection, type Connections, NAMESPACE } from '../../postgres/connection.ts';
import { INSTANCE_TABLE_SQL } from '../../postgres/instance-directory.ts';
import {
  DATABASE_COLUMN,
  mirroredTables,
  qualifiedName,
  sqlType,
  toPostgresText,
  type MirroredColumn,
  type MirroredTable,
} from './mirrored-table.ts';

/** Used only at the first of several shards. Every shard has the tables, so that any server can become the first. */
const DIRECTORY_SQL = `
CREATE TABLE IF NOT EXISTS ${NAMESPACE}.rockpool_shard (      -- the shards that databases may be at
  name text COLLATE "C" PRIMARY KEY,
  store_id uuid NOT NULL UNIQUE
);

CREATE SEQUENCE IF NOT EXISTS ${NAMESPACE}.rockpool_move;

CREATE TABLE IF NOT EXISTS ${NAMESPACE}.rockpool_directory (  -- where a database is, also after it was deleted
  ${DATABASE_COLUMN} text COLLATE "C" PRIMARY KEY,
  shard text COLLATE "C" NOT NULL REFERENCES ${NAMESPACE}.rockpool_shard,
  move_id bigint,                              -- the move that may change the shard
  move_to text COLLATE "C",
  move_expires timestamptz,                    -- from then on an instance may end the move
  moved_from text COLLATE "C"                  -- the shard where rows are left
);`;

const ACCEPTED_CODE_INDEX_SQL = `CREATE INDEX IF NOT EXISTS rockpool_member_accepted ON ${NAMESPACE}.rockpool_member (accepted_code_sha256) WHERE accepted_code_sha256 IS NOT NULL`;

/** The tables that PostgreSQL has besides one for each table of a database file. */
const SHARED_TABLES_SQL = `
CREATE TABLE ${NAMESPACE}.rockpool_store (      -- one row
  one boolean PRIMARY KEY DEFAULT true CHECK (one),
  storage_format integer NOT NULL,             -- of the tables (sqlite/internal-tables.ts)
  schema text NOT NULL,                        -- the app's schema, as its build wrote it
  schema_hash text NOT NULL,
  store_id uuid NOT NULL DEFAULT gen_random_uuid(), -- tells this store from others
  directory uuid                               -- the id of the store with the directory, where this one is a shard
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
  leased_until timestamptz,
  move_id bigint,                              -- with a mark, no instance commits (move-mark.ts)
  move_role text
);
${DIRECTORY_SQL}

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
  accepted_code_sha256 bytea,                  -- of the invitation that the principal accepted last; NULL: none
  PRIMARY KEY (${DATABASE_COLUMN}, principal)
);
CREATE INDEX rockpool_member_written ON ${NAMESPACE}.rockpool_member (written_at);
${ACCEPTED_CODE_INDEX_SQL};

CREATE TABLE ${NAMESPACE}.rockpool_invitation (
  code_sha256 bytea PRIMARY KEY,
  ${DATABASE_COLUMN} text COLLATE "C" NOT NULL,
  role text NOT NULL,
  expires_ms bigint NOT NULL,
  invited_by text                              -- the principal who made it; NULL: the program that runs the server
);`;

export interface PrepareOptions {
  readonly migrates?: boolean | undefined;
  /** How long tables that must change may be in use by a transaction that began before. Default: 10 s. */
  readonly patienceMs?: number | undefined;
}

const PATIENCE_MS = 10_000;
const POLL_MS = 100;

/**
 * Creates the tables, or migrates them additively to the instance's schema, and returns them. Tables whose schema adds
 * to the instance's stay as they are. One instance at a time does this; the others wait, and then have nothing to do.
 * Throws `schema-incompatible` for any other difference, `database-unavailable` if a long transaction uses the tables,
 * and `config-invalid` if PostgreSQL cannot store what SQLite stores, or if tables exist that had to be changed
 * although `migrates` is false: instances of the version that made them could no longer use them.
 */
export async function prepareSchema(
  connections: Connections,
  own: Schema,
  { migrates = true, patienceMs = PATIENCE_MS }: PrepareOptions = {},
): Promise<StoredTables> {
  const prepared = await connections.transaction(null, 'READ WRITE', async (connection) => {
    await requireSettings(connection);
    const result = await preparedSchema(connection, own);
    if (result === null && !migrates && (await tableNames(connection)).has('rockpool_store'))
      throw new RockpoolError('config-invalid', {
        count: 1,
        problems:
          'a different version of the server made the tables: use its command, or start an instance of this version first',
      });
    return { commit: false, result: result ?? (await alteredTables(connection, own)) };
  });
  if (prepared !== null && !Array.isArray(prepared)) return storedTables(prepared);
  if (prepared !== null) await untilUnused(connections, prepared, patienceMs);
  return storedTables(await changedSchema(connections, own));
}

/** Creates or migrates the tables, and returns the schema that they have then. */
function changedSchema(connections: Connections, own: Schema): Promise<Schema> {
  return connections.transaction(null, 'READ WRITE', async (connection) => {
    await connection.query(`SELECT pg_advisory_xact_lock(${SCHEMA_LOCK})`);
    const exists = (await tableNames(connection)).has('rockpool_store');
    const result = exists ? await migrate(connection, own) : await create(connection, own);
    await connection.query(
      `INSERT INTO ${NAMESPACE}.rockpool_schema (hash, schema) VALUES ($1, $2) ON CONFLICT DO NOTHING`,
      [own.hash, encodeSchema(own)],
    );
    return { commit: true, result };
  });
}

/**
 * Resolves when the transactions that use the tables, or that no schema change may overlap, have ended. A dump or the
 * copy of a database keeps its locks for minutes or hours: a migration would wait for them in vain, and the commits of
 * all instances would wait behind it, again at each attempt to start.
 */
async function untilUnused(connections: Connections, tables: readonly string[], patienceMs: number): Promise<void> {
  const deadlineMs = performance.now() + patienceMs;
  for (let found: readonly unknown[] | null = null; ;) {
    const users = (await connections.query(USERS_SQL, [tables])).map(([transaction]) => transaction);
    found = found === null ? users : found.filter((transaction) => users.includes(transaction));
    if (found.length === 0) return;
    if (performance.now() > deadlineMs)
      throw new RockpoolError('database-unavailable', {
        problem:
          'the tables must change, but a long transaction such as pg_dump or a move uses them: try again when it has ended',
      });
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

/**
 * The transactions that use one of the tables or hold SCHEMA_LOCK, which pg_locks splits into two numbers. Without
 * automatic vacuums, which PostgreSQL ends for a migration. They have no user; other roles cannot read more about them.
 */
const USERS_SQL = `
SELECT DISTINCT held.virtualtransaction FROM pg_locks AS held
WHERE held.granted AND held.pid <> pg_backend_pid()
AND held.database = (SELECT oid FROM pg_database WHERE datname = current_database())
AND (
  held.locktype = 'advisory' AND held.objsubid = 1
  AND held.classid = ${Math.floor(SCHEMA_LOCK / 2 ** 32)} AND held.objid = ${SCHEMA_LOCK % 2 ** 32}
  OR held.relation IN (
    SELECT pg_class.oid FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
    WHERE nspname = '${NAMESPACE}' AND relname = ANY($1)
  )
)
AND NOT EXISTS (SELECT FROM pg_stat_activity AS activity WHERE activity.pid = held.pid AND activity.usesysid IS NULL)`;

/**
 * Returns the tables in the state in which another instance left them. Throws `schema-incompatible` if an instance with
 * the schema `own` cannot serve them, and `database-unavailable` if a different version of the server has changed their
 * format.
 */
export async function followTables(connections: Connections, own: Schema): Promise<StoredTables> {
  const [[storageFormat, stored] = []] = await connections.query(
    `SELECT storage_format, schema FROM ${NAMESPACE}.rockpool_store`,
  );
  if (storageFormat !== STORAGE_FORMAT) throw otherFormat();
  return storedTables(followedSchema(decodeSchema(stored as string), own));
}

/** The tables of all databases, and their schema. */
export interface StoredTables {
  readonly schema: Schema;
  readonly byName: ReadonlyMap<string, MirroredTable>;
}

function storedTables(schema: Schema): StoredTables {
  return { schema, byName: new Map(mirroredTables(schema).map((table) => [table.name, table])) };
}

function otherFormat(): RockpoolError {
  return new RockpoolError('database-unavailable', {
    problem: 'the tables have an unknown storage format',
    supported: STORAGE_FORMAT,
  });
}

/** Whether the stored schema is this one. The members of a schema that was decoded have a different order. */
function isStoredAs(stored: string, own: Schema): boolean {
  return encodeSchema(decodeSchema(stored)) === encodeSchema(decodeSchema(encodeSchema(own)));
}

/**
 * Returns the schema of the tables if there is nothing to change, or null. Avoids the lock in that case: all commits
 * would wait behind it while it waits for a long transaction, such as the copy of a large database to another shard.
 */
async function preparedSchema(connection: Connection, own: Schema): Promise<Schema | null> {
  const names = await tableNames(connection);
  if (!names.has('rockpool_store') || !names.has('rockpool_directory') || (await missingColumns(connection)).length > 0)
    return null;
  const [[storageFormat, stored, isRemembered] = []] = await connection.query(
    `SELECT storage_format, schema, EXISTS (SELECT 1 FROM ${NAMESPACE}.rockpool_schema WHERE hash = $1) FROM ${NAMESPACE}.rockpool_store`,
    [own.hash],
  );
  if (storageFormat !== STORAGE_FORMAT || isRemembered !== true) return null;
  if (isStoredAs(stored as string, own)) return own;
  const { schema } = openedSchema(decodeSchema(stored as string), own);
  return schema === own ? null : schema;
}

/**
 * The names of the tables that exist now. Reads the catalog as a table: `to_regclass` and `::regnamespace` answer from
 * a cache of the connection, which still lacks what another instance created while this one waited for a lock.
 */
async function tableNames(connection: Connection): Promise<ReadonlySet<string>> {
  const rows = await connection.query(
    `SELECT relname FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace WHERE nspname = '${NAMESPACE}'`,
  );
  return new Set(rows.map(([name]) => name as string));
}

async function requireSettings(connection: Connection): Promise<void> {
  const [[encoding, synchronousCommit] = []] = await connection.query(
    `SELECT current_setting('server_encoding'), current_setting('synchronous_commit')`,
  );
  const problems = [
    ...(encoding === 'UTF8' ? [] : ['the PostgreSQL database does not have the encoding UTF8']),
    // Acknowledgements depend on synchronous commits.
    ...(synchronousCommit === 'off'
      ? ['PostgreSQL runs with synchronous_commit = off: acknowledged changes may be lost']
      : []),
  ];
  if (problems.length > 0)
    throw new RockpoolError('config-invalid', { count: problems.length, problems: problems.join('\n') });
}

async function create(connection: Connection, schema: Schema): Promise<Schema> {
  const tables = mirroredTables(schema);
  await connection.query(
    `CREATE SCHEMA IF NOT EXISTS ${NAMESPACE}; ${SHARED_TABLES_SQL}; ${INSTANCE_TABLE_SQL}; ${isolationSql('rockpool_commit')}`,
  );
  for (const table of tables) await connection.query(createTableSql(table));
  await connection.query(
    `INSERT INTO ${NAMESPACE}.rockpool_store (storage_format, schema, schema_hash) VALUES ($1, $2, $3)`,
    [STORAGE_FORMAT, encodeSchema(schema), schema.hash],
  );
  return schema;
}

/** Returns the schema that the tables have now. */
async function migrate(connection: Connection, own: Schema): Promise<Schema> {
  const [[storageFormat, stored] = []] = await connection.query(
    `SELECT storage_format, schema FROM ${NAMESPACE}.rockpool_store`,
  );
  const added = TABLES_ADDED_AFTER[storageFormat as number];
  if (added !== undefined) await addTables(connection, mirroredTables(own), added);
  else if (storageFormat !== STORAGE_FORMAT) throw otherFormat();
  for (const { table, columns } of await missingColumns(connection))
    await connection.query(
      `ALTER TABLE ${NAMESPACE}.${table} ${columns.map((column) => `ADD COLUMN ${column}`).join(', ')}`,
    );
  await connection.query(`${DIRECTORY_SQL} ${ACCEPTED_CODE_INDEX_SQL}`);
  // Creates a table in a store that predates the forwarding of requests.
  await connection.query(INSTANCE_TABLE_SQL);
  if (isStoredAs(stored as string, own)) return own;
  const before = decodeSchema(stored as string);
  const { schema } = openedSchema(before, own);
  if (schema !== own) return schema;
  const tables = mirroredTables(schema);
  const old = new Map(mirroredTables(before).map((table) => [table.name, table]));
  for (const table of tables) {
    const known = new Set(old.get(table.name)?.columns.map(({ name }) => name));
    if (!old.has(table.name)) await connection.query(createTableSql(table));
    else
      for (const column of table.columns)
        if (!known.has(column.name)) await runEach(connection, addColumnSql(table, column));
  }
  await connection.query(`UPDATE ${NAMESPACE}.rockpool_store SET schema = $1, schema_hash = $2`, [
    encodeSchema(schema),
    schema.hash,
  ]);
  return schema;
}

/** The tables that a storage format lacks. 8 is the first one that PostgreSQL had. */
const TABLES_ADDED_AFTER: Readonly<Record<number, readonly string[]>> = {
  8: ['rockpool_origin', 'rockpool_nulled_reference', 'rockpool_history'],
  9: ['rockpool_nulled_reference', 'rockpool_history'],
  10: ['rockpool_history'],
};

/** Columns that were added to the tables of all databases since they were first created. */
const ADDED_COLUMNS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  rockpool_commit: { committed_at: 'timestamptz NOT NULL DEFAULT clock_timestamp()' },
  rockpool_database: { leased_by: 'text', leased_until: 'timestamptz', move_id: 'bigint', move_role: 'text' },
  rockpool_invitation: { invited_by: 'text' },
  rockpool_member: { accepted_code_sha256: 'bytea' },
  rockpool_store: { store_id: 'uuid NOT NULL DEFAULT gen_random_uuid()', directory: 'uuid' },
};

/**
 * The names of the existing tables that a migration would add columns to, for which nothing may use them. Null if no
 * tables exist.
 */
async function alteredTables(connection: Connection, own: Schema): Promise<string[] | null> {
  if (!(await tableNames(connection)).has('rockpool_store')) return null;
  const [[, stored] = []] = await connection.query(`SELECT storage_format, schema FROM ${NAMESPACE}.rockpool_store`);
  const before = decodeSchema(stored as string);
  const schema = isStoredAs(stored as string, own) ? own : openedSchema(before, own).schema;
  const old = new Map(mirroredTables(before).map(({ name, columns }) => [name, columns.length]));
  return [
    ...(await missingColumns(connection)).map(({ table }) => table),
    ...mirroredTables(schema).flatMap(({ name, columns }) =>
      columns.length > (old.get(name) ?? Infinity) ? [name] : [],
    ),
  ];
}

/** The tables that lack columns, with the SQL of each column. */
async function missingColumns(
  connection: Connection,
): Promise<readonly { readonly table: string; readonly columns: readonly string[] }[]> {
  const rows = await connection.query(
    `SELECT relname || '.' || attname FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid JOIN pg_namespace ON pg_namespace.oid = relnamespace WHERE nspname = '${NAMESPACE}' AND NOT attisdropped`,
  );
  const known = new Set(rows.map(([name]) => name));
  return Object.entries(ADDED_COLUMNS)
    .map(([table, columns]) => ({
      table,
      columns: Object.entries(columns).flatMap(([name, type]) =>
        known.has(`${table}.${name}`) ? [] : [`${name} ${type}`],
      ),
    }))
    .filter(({ columns }) => columns.length > 0);
}

async function addTables(
  connection: Connection,
  tables: readonly MirroredTable[],
  names: readonly string[],
): Promise<void> {
  for (const table of tables) if (names.includes(table.name)) await connection.query(createTableSql(table));
  await connection.query(`UPDATE ${NAMESPACE}.rockpool_store SET storage_format = $1`, [STORAGE_FORMAT]);
}

/**
 * Runs statements one by one: Citus sends the whole text of a query that changes a distributed table to other servers,
 * as if it were one statement. A table that was just created is not distributed yet.
 */
async function runEach(connection: Connection, statements: readonly string[]): Promise<void> {
  for (const statement of statements) await connection.query(statement);
}

/** SQLite decides CHECK, UNIQUE and foreign keys, so they are not declared here (docs/decisions/0030-postgres.md). */
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
 * Existing rows receive the default that SQLite would give them. The DEFAULT is then dropped, because new rows always
 * contain a value.
 */
function addColumnSql(table: MirroredTable, column: MirroredColumn): string[] {
  const name = quoteName(column.name);
  const literal = column.defaultSql === null ? null : toPostgresText(column, evaluate(column));
  const add = `ALTER TABLE ${qualifiedName(table.name)} ADD COLUMN ${columnSql(column)}`;
  if (literal === null) return [add];
  return [
    `${add} DEFAULT '${literal.replaceAll("'", "''")}'::${sqlType(column)}`,
    `ALTER TABLE ${qualifiedName(table.name)} ALTER COLUMN ${name} DROP DEFAULT`,
  ];
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
