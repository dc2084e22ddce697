import { expect, it } from 'vitest';
import { postgresUnderTest } from '../../../testing/postgres-under-test.ts';
import { TEST_SCHEMA } from '../../../testing/test-schema.ts';
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
