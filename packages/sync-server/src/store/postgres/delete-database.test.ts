import { beforeEach, expect, it, onTestFinished } from 'vitest';
import { ADMIN_TOKEN, askAdmin } from '../../../testing/admin-client.ts';
import { insert } from '../../../testing/changeset.ts';
import { Kill, KilledConnections } from '../../../testing/killed-connections.ts';
import { postgresUnderTest } from '../../../testing/postgres-under-test.ts';
import type { TestConnection } from '../../../testing/test-client.ts';
import { TEST_SCHEMA } from '../../../testing/test-schema.ts';
import { TestServer } from '../../../testing/test-server.ts';
import { atLevel } from '../../../../../tests/kit/level.ts';
import { temporaryFolder } from '../../../../../tests/kit/temporary-folder.ts';
import { until } from '../../../../../tests/kit/until.ts';
import { PostgresMembers } from '../../auth/postgres-members.ts';
import { InProcessBus } from '../../bus/in-process-bus.ts';
import { Connections } from '../../postgres/connection.ts';
import { deleteDatabase } from './delete-database.ts';
import { PostgresStore } from './postgres-store.ts';

const postgres = postgresUnderTest();

/** About how many of its requests the deletion is killed at, one in each run. */
const KILLS = atLevel({ test: 3, verify: 1_000 });

/** The requests until the mark is committed. */
const MARKING = 3;

let url: string;
let name: string;
let server: TestServer;
beforeEach(async () => {
  ({ url, name } = await postgres.server.createPreparedDatabase());
  const started = await TestServer.start(temporaryFolder(), { postgres: url, admin: { token: ADMIN_TOKEN } });
  onTestFinished(() => started.stop());
  await started.sync.ready();
  server = started;
});

/** Deletes a database as the command does. */
async function remove(databaseId: string, kill: Kill = new Kill()): Promise<void> {
  const [connections, killed] = [new Connections(url), new KilledConnections(url, kill)];
  const store = new PostgresStore({
    ...{ connections, bus: new InProcessBus(), dataDir: temporaryFolder(), schema: TEST_SCHEMA, migrates: false },
    ...{ measureCommit: () => undefined, onError: () => undefined },
  });
  const members = new PostgresMembers(killed, () => Promise.resolve());
  try {
    await deleteDatabase(databaseId, { connections: killed, store }, () => members.forgetDatabase(databaseId));
  } finally {
    await store.close();
    await Promise.all([connections.close(), killed.close()]);
  }
}

/** Creates a database with an account and a member. */
async function create(databaseId: string): Promise<Uint8Array | null> {
  const connection = await server.open(undefined, { databaseId });
  await connection.commit([insert('accounts', 'x', { name: 'x' })]);
  await server.sync.members.setRole(databaseId, 'zoe', 'owner');
  await connection.close();
  return connection.site.databaseIdentity;
}

/** The rows of a database and its members, read as the administrator of PostgreSQL. */
async function rowsOf(databaseId: string): Promise<unknown> {
  const tables = ['accounts', 'rockpool_log', 'rockpool_meta', 'rockpool_site', 'rockpool_commit', 'rockpool_member'];
  const counts = tables.map((table) => `(SELECT count(*) FROM rockpool.${table} WHERE database_id = '${databaseId}')`);
  const [[count] = []] = await postgres.server.query(
    name,
    `SELECT (${counts.join(' + ')} + (SELECT count(*) FROM rockpool.rockpool_database WHERE id = '${databaseId}'))::int`,
  );
  return count;
}

/**
 * The failure with which a session of a member ends. The first sessions may meet the database that the instance had
 * open: it closes that one when it reads the mark.
 */
async function refusal(databaseId: string): Promise<unknown> {
  for (;;) {
    const connection = await server.connect();
    connection.hello(await server.token('editor', 'ann', databaseId), databaseId);
    const { code, fields } = await connection.failure();
    if (fields['problem'] !== 'this instance has closed the database') return [code, fields['problem']];
  }
}

/** Opens the database. The first sessions may meet a copy that the instance is replacing. */
async function openAgain(databaseId: string): Promise<TestConnection> {
  for (;;) {
    try {
      return await server.open(undefined, { databaseId });
    } catch (error) {
      expect(String(error)).toContain('"database-unavailable"');
    }
  }
}

it('a deletion can be interrupted at every request: it can be completed later, and nobody uses the rest until then', async () => {
  const count = new Kill();
  await create('counted');
  await remove('counted', count);
  const stride = Math.max(1, Math.floor(count.count / KILLS));
  for (let request = count.count - 1; request >= 0; request -= stride) {
    const databaseId = `killed-${request}`;
    const identity = await create(databaseId);
    await expect(remove(databaseId, new Kill(request)), `request ${request}`).rejects.toThrow('killed');
    if (request >= MARKING)
      expect(await refusal(databaseId)).toEqual(['database-unavailable', 'the database is being deleted']);
    await remove(databaseId);
    expect(await rowsOf(databaseId), `request ${request}`).toBe(0);
    await until(() => server.sync.members.list(databaseId).length === 0);
    const again = await openAgain(databaseId);
    expect(again.site.databaseIdentity).not.toEqual(identity);
    await again.close();
  }
});

it('a deletion by the operator keeps a member who is added as soon as the database can be created again', async () => {
  await create('recreated');
  await postgres.server.query(
    name,
    `CREATE FUNCTION add_member() RETURNS trigger SECURITY DEFINER LANGUAGE plpgsql AS $$ BEGIN
       INSERT INTO rockpool.rockpool_member (database_id, principal, role) VALUES (OLD.id, 'eve', 'viewer');
       RETURN NULL;
     END $$;
     CREATE TRIGGER add_member AFTER DELETE ON rockpool.rockpool_database FOR EACH ROW EXECUTE FUNCTION add_member();`,
  );
  const deleted = await askAdmin(server, 'DELETE', '/databases/recreated?confirm=recreated');
  expect(deleted.status).toBe(200);
  expect(server.sync.members.list('recreated').map(({ principal }) => principal)).not.toContain('zoe');
  expect(await rowsOf('recreated')).toBe(1);
  await until(() => server.sync.members.list('recreated').length === 1);
});

it('a deletion ends the sessions of the database, and deletes a large table in parts', async () => {
  await create('small');
  await create('large');
  const session = await server.open(undefined, { databaseId: 'large' });
  await postgres.server.query(
    name,
    `INSERT INTO rockpool.accounts (database_id, id, name) SELECT 'large', 'r' || i, 'r' || i FROM generate_series(1, 4001) AS i`,
  );
  const [small, large] = [new Kill(), new Kill()];
  await remove('small', small);
  await remove('large', large);
  expect((await session.failure()).code).toBe('database-unavailable');
  // Each of two more parts reads the mark, deletes and commits.
  expect(large.count - small.count).toBe(6);
  expect(await rowsOf('large')).toBe(0);
});

it('a deletion leaves the rows of other databases in a table that an operator has partitioned without row-level security', async () => {
  await create('a');
  await create('b');
  await postgres.server.query(
    name,
    `ALTER TABLE rockpool.accounts RENAME TO whole;
     CREATE TABLE rockpool.accounts (LIKE rockpool.whole) PARTITION BY LIST (database_id);
     CREATE TABLE rockpool.accounts_a PARTITION OF rockpool.accounts FOR VALUES IN ('a');
     CREATE TABLE rockpool.accounts_b PARTITION OF rockpool.accounts FOR VALUES IN ('b');
     INSERT INTO rockpool.accounts SELECT * FROM rockpool.whole;
     ALTER TABLE rockpool.accounts OWNER TO rockpool_app;`,
  );
  await remove('a');
  expect(await postgres.server.query(name, 'SELECT database_id, id FROM rockpool.accounts')).toEqual([['b', 'x']]);
});
