import { expect, it } from 'vitest';
import { insert } from '../../../testing/changeset.ts';
import { mortalPostgresUnderTest } from '../../../testing/postgres-under-test.ts';
import { pushUntil } from '../../../testing/push-until.ts';
import { Connections } from '../../postgres/connection.ts';
import { TestSite, type TestConnection } from '../../../testing/test-client.ts';
import { DATABASE, TestServer } from '../../../testing/test-server.ts';
import { atLevel } from '../../../../../tests/kit/level.ts';
import { temporaryFolder } from '../../../../../tests/kit/temporary-folder.ts';

const postgres = mortalPostgresUnderTest();

const CHANGESETS = 300;
const KILLS = atLevel({ test: 1, verify: 3 });
const UNAVAILABLE = 'database-unavailable';

it('a server loses no acknowledged change when PostgreSQL is killed during pushes, reports the outage, and recovers by itself', async () => {
  const { url, name } = await postgres.server.createDatabase();
  const folder = temporaryFolder();
  const server = await TestServer.start(folder, { postgres: url });
  await server.sync.ready();
  const open = async (site: TestSite): Promise<TestConnection> => {
    const acknowledged = site.lastAckedSequence;
    const connection = await server.connect(site);
    const { welcome } = await connection.open(await server.token(), DATABASE);
    // The server has kept the outcomes that the client received.
    expect(welcome.lastAckedSequence).toBeGreaterThanOrEqual(acknowledged);
    return connection;
  };

  const writers = ['x', 'y'].map((prefix) => {
    const site = new TestSite();
    for (let i = 1; i <= CHANGESETS; i++) site.write([insert('entries', `${prefix}${i}`, { amount: BigInt(i) })]);
    return site;
  });
  for (let kill = 1; kill <= KILLS; kill++) {
    const connections = await Promise.all(writers.map(open));
    const enough = Math.floor((CHANGESETS * kill) / (KILLS + 1));
    await Promise.all(connections.map((connection) => pushUntil(connection, enough)));
    // The clients keep pushing meanwhile, and detect the outage by the pushes that cannot be decided.
    const failures = connections.map(async (connection) => {
      await pushUntil(connection, CHANGESETS).catch(() => undefined);
      await connection.closes();
      expect(connection.closed?.reason).toBe(UNAVAILABLE);
    });
    await postgres.server.kill();
    await Promise.all(failures);
    expect((await server.ask('GET', '/health')).status).toBe(200);
    expect((await server.ask('GET', '/ready')).status).toBe(503);
    const refused = await server.connect(writers[0]);
    refused.hello(await server.token(), DATABASE);
    expect(await refused.failure()).toMatchObject({ code: UNAVAILABLE });
    await postgres.server.restart();
  }
  await Promise.all(writers.map(async (site) => pushUntil(await open(site), CHANGESETS)));
  expect((await server.ask('GET', '/ready')).status).toBe(200);
  const count = 2 * CHANGESETS;
  expect(await postgres.server.query(name, 'SELECT count(*)::int, sum(amount)::int FROM rockpool.entries')).toEqual([
    [count, CHANGESETS * (CHANGESETS + 1)],
  ]);
  expect(
    await postgres.server.query(
      name,
      'SELECT count(*)::int, count(DISTINCT (site_number, sequence))::int, max(watermark)::int FROM rockpool.rockpool_log',
    ),
  ).toEqual([[count, count, count]]);
  await server.stop();
});

it('a server uses no standby, whose rows and roles may be old, until it takes over', async () => {
  const { url, name } = await postgres.server.createDatabase();
  const server = await TestServer.start(temporaryFolder(), { postgres: url });
  await server.sync.ready();
  await server.stop();
  const standby = await postgres.server.startReplica();
  const there = await TestServer.start(temporaryFolder(), { postgres: standby.urlOf(name) });
  const connections = new Connections(standby.urlOf(name));
  await expect(connections.query('SELECT 1')).rejects.toMatchObject({
    code: UNAVAILABLE,
    fields: { systemCode: '25006' },
  });
  expect((await there.ask('GET', '/ready')).status).toBe(503);
  await postgres.server.kill();
  await standby.promote();
  while ((await there.ask('GET', '/ready')).status !== 200);
  expect(await connections.query('SELECT 1')).toEqual([[1]]);
  await connections.close();
  await there.stop();
  await standby.stop();
});
