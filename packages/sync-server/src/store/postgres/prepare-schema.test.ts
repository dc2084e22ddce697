import { buildSchema } from '@rockpool/shared';
import { expect, it } from 'vitest';
import { postgresUnderTest } from '../../../testing/postgres-under-test.ts';
import { column, table, TEST_SCHEMA, TEST_TABLES } from '../../../testing/test-schema.ts';
import { Connections, SCHEMA_LOCK } from '../../postgres/connection.ts';
import { prepareSchema } from './prepare-schema.ts';

const postgres = postgresUnderTest();

it('refuses a PostgreSQL that acknowledges commits before they are durable', async () => {
  const { url, name } = await postgres.server.createDatabase();
  await postgres.server.query(name, `ALTER DATABASE ${name} SET synchronous_commit = off`);
  const connections = new Connections(url);
  await expect(prepareSchema(connections, TEST_SCHEMA)).rejects.toMatchObject({
    code: 'config-invalid',
    fields: { problems: expect.stringContaining('synchronous_commit = off') as string },
  });
  await connections.close();
});

/**
 * Hides the schema with the finished tables by renaming it, and renames it back while the instances wait. If an
 * instance created the tables instead, so many notices of change could arrive at once that PostgreSQL drops the caches
 * of the waiting connections, and the test would find no outdated cache.
 */
it('finds the tables that another instance created while it waited for the lock', async () => {
  const { url, name } = await postgres.server.createDatabase();
  const other = new Connections(url);
  const instances = [1, 2].map(() => new Connections(url));
  await prepareSchema(other, TEST_SCHEMA);
  const client = await other.connect();
  await client.query(`SELECT pg_advisory_lock(${SCHEMA_LOCK}); ALTER SCHEMA rockpool RENAME TO hidden`);
  const prepared = Promise.all(instances.map((connections) => prepareSchema(connections, TEST_SCHEMA)));
  prepared.catch(() => undefined);
  for (;;) {
    const [[waiting] = []] = await postgres.server.query(
      name,
      `SELECT count(*)::int FROM pg_stat_activity WHERE datname = '${name}' AND wait_event = 'advisory'`,
    );
    if (waiting === instances.length) break;
  }
  // In one query, the unlock would precede the commit of the rename.
  await client.query('ALTER SCHEMA hidden RENAME TO rockpool');
  await client.query(`SELECT pg_advisory_unlock(${SCHEMA_LOCK})`);
  client.release();
  for (const { schema } of await prepared) expect(schema.hash).toBe(TEST_SCHEMA.hash);
  for (const connections of [other, ...instances]) await connections.close();
});

it('does not begin to migrate while a long transaction, such as a dump, reads the tables', async () => {
  const { url } = await postgres.server.createDatabase();
  const [instance, dump] = [new Connections(url), new Connections(url)];
  await prepareSchema(instance, TEST_SCHEMA);
  const client = await dump.connect();
  await client.query('BEGIN; LOCK TABLE rockpool.accounts IN ACCESS SHARE MODE');
  const tags = table('tags', [column('id', 'text', { notNull: true })]);
  const withTags = buildSchema([...TEST_TABLES, tags]);
  expect(await prepareSchema(instance, withTags)).toMatchObject({ schema: { hash: withTags.hash } });
  const extended = buildSchema(
    withTags.tables.map((one) =>
      one.name === 'accounts' ? { ...one, columns: [...one.columns, column('color', 'text')] } : one,
    ),
  );
  const started = prepareSchema(instance, extended, { patienceMs: 500 });
  // Not the error of a lock that PostgreSQL has waited for: all commits wait behind such a lock.
  await expect(started).rejects.toMatchObject({
    code: 'database-unavailable',
    fields: { problem: expect.stringContaining('a long transaction such as pg_dump') as string },
  });
  expect(await prepareSchema(instance, withTags)).toMatchObject({ schema: { hash: withTags.hash } });
  const patient = prepareSchema(instance, extended);
  await client.query('COMMIT');
  expect(await patient).toMatchObject({ schema: { hash: extended.hash } });
  client.release();
  for (const connections of [instance, dump]) await connections.close();
});

it.each([
  ['a move, holds the lock of commits', `BEGIN; SELECT pg_advisory_xact_lock_shared(${SCHEMA_LOCK})`],
  ['VACUUM, changes the table', 'BEGIN; LOCK TABLE rockpool.accounts IN SHARE UPDATE EXCLUSIVE MODE'],
])('does not begin to migrate while a long transaction, such as %s', async (_, statements) => {
  const { url } = await postgres.server.createDatabase();
  const [instance, other] = [new Connections(url), new Connections(url)];
  await prepareSchema(instance, TEST_SCHEMA);
  const client = await other.connect();
  await client.query(statements);
  const extended = buildSchema(
    TEST_TABLES.map((one) =>
      one.name === 'accounts' ? { ...one, columns: [...one.columns, column('color', 'text')] } : one,
    ),
  );
  await expect(prepareSchema(instance, extended, { patienceMs: 0 })).rejects.toMatchObject({
    code: 'database-unavailable',
    fields: { problem: expect.stringContaining('a long transaction such as pg_dump') as string },
  });
  expect(await prepareSchema(instance, TEST_SCHEMA)).toMatchObject({ schema: { hash: TEST_SCHEMA.hash } });
  await client.query('COMMIT');
  expect(await prepareSchema(instance, extended)).toMatchObject({ schema: { hash: extended.hash } });
  client.release();
  for (const connections of [instance, other]) await connections.close();
});

it('waits for the lock of commits also if it only adds a table', async () => {
  const { url } = await postgres.server.createDatabase();
  const [instance, move] = [new Connections(url), new Connections(url)];
  await prepareSchema(instance, TEST_SCHEMA);
  const client = await move.connect();
  await client.query(`BEGIN; SELECT pg_advisory_xact_lock_shared(${SCHEMA_LOCK})`);
  const withTags = buildSchema([...TEST_TABLES, table('tags', [column('id', 'text', { notNull: true })])]);
  await expect(prepareSchema(instance, withTags, { patienceMs: 0 })).rejects.toMatchObject({
    code: 'database-unavailable',
    fields: { problem: expect.stringContaining('a long transaction such as pg_dump') as string },
  });
  await client.query('COMMIT');
  client.release();
  for (const connections of [instance, move]) await connections.close();
});
