import { afterEach, beforeEach, expect, it } from 'vitest';
import { postgresUnderTest } from '../../testing/postgres-under-test.ts';
import { TEST_SCHEMA } from '../../testing/test-schema.ts';
import { Connections } from '../postgres/connection.ts';
import { prepareSchema } from '../store/postgres/prepare-schema.ts';
import { PostgresMembers } from './postgres-members.ts';

const postgres = postgresUnderTest();

let connections: Connections;
beforeEach(async () => {
  const { url } = await postgres.server.createDatabase();
  // With one connection, statements run in the order in which they are sent.
  connections = new Connections(url, { maxConnections: 1 });
});
afterEach(() => connections.close());

/**
 * Gives the database a clock that a test sets. PostgreSQL looks up `now()` in it first. Only later connections use it.
 */
async function createClock(name: string): Promise<(aheadS: number) => Promise<unknown>> {
  await postgres.server.query(
    name,
    `CREATE SCHEMA clock; CREATE TABLE clock.ahead AS SELECT interval '0 s' AS time;
     CREATE FUNCTION clock.now() RETURNS timestamptz STABLE LANGUAGE sql AS 'SELECT pg_catalog.now() + time FROM clock.ahead';
     GRANT USAGE ON SCHEMA clock TO PUBLIC; GRANT SELECT ON clock.ahead TO PUBLIC;
     ALTER DATABASE ${name} SET search_path = clock, pg_catalog`,
  );
  return (aheadS) => postgres.server.query(name, `UPDATE clock.ahead SET time = interval '${aheadS} s'`);
}

it('a poll returns what was written since the last successful one, however long ago that was', async () => {
  const { url, name } = await postgres.server.createDatabase();
  const setClock = await createClock(name);
  const own = new Connections(url);
  await prepareSchema(own, TEST_SCHEMA);
  const ready = (): Promise<void> => Promise.resolve();
  const [here, there] = [new PostgresMembers(own, ready), new PostgresMembers(own, ready)];
  const ann = { databaseId: 'household', principal: 'ann' };
  await there.write({ ...ann, role: 'owner' });
  expect(await here.readAll()).toEqual([{ ...ann, role: 'owner' }]);
  await there.write({ ...ann, role: 'editor' });
  await setClock(120);
  expect(await here.readRecent()).toEqual({ members: [{ ...ann, role: 'editor' }], count: 1 });
  await there.write({ ...ann, role: null });
  await setClock(240);
  expect(await here.readRecent()).toEqual({ members: [{ ...ann, role: null }], count: 1 });
  expect(await here.readRecent()).toEqual({ members: [], count: 1 });
  await own.close();
});

it.each<[string, (members: PostgresMembers) => Promise<unknown>, unknown]>([
  ['a poll', (members) => members.readRecent(), { members: [], count: 0 }],
  ['an acceptance', (members) => members.acceptInvitation(new Uint8Array(32), 'ann', 0, () => 'viewer'), null],
])('%s that begins before the tables exist waits for them', async (_, use, answer) => {
  const tables = Promise.withResolvers<void>();
  const answered = use(new PostgresMembers(connections, () => tables.promise));
  await prepareSchema(connections, TEST_SCHEMA);
  tables.resolve();
  expect(await answered).toEqual(answer);
});
