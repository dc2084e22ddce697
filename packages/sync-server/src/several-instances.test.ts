import { buildSchema, encodeSchema, type Schema } from '@rockpool/shared';
import { createDocument, documentText, encodeDocumentCell, parseJson } from '@rockpool/shared/document';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ADMIN_TOKEN, askAdmin } from '../testing/admin-client.ts';
import type { Ask } from '../testing/ask-server.ts';
import { insert, update, withAges } from '../testing/changeset.ts';
import { HttpSessionClient } from '../testing/http-session-client.ts';
import { postgresUnderTest } from '../testing/postgres-under-test.ts';
import { TestSite, type TestConnection } from '../testing/test-client.ts';
import { Page, PAGE_RULE } from '../testing/test-page.ts';
import { column, TEST_SCHEMA, TEST_TABLES } from '../testing/test-schema.ts';
import { DATABASE, TestServer } from '../testing/test-server.ts';
import { deliveredRows } from '../testing/delivered-rows.ts';
import { temporaryFolder } from '../../../tests/kit/temporary-folder.ts';
import { until } from '../../../tests/kit/until.ts';
import { PostgresAdministration } from './store/postgres/administration.ts';

const postgres = postgresUnderTest();

let servers: TestServer[];
let url: string;
let name: string;

async function start(options: Parameters<typeof TestServer.start>[1] = {}): Promise<TestServer> {
  const server = await TestServer.start(temporaryFolder(), { postgres: url, ...options });
  servers.push(server);
  await server.sync.ready();
  return server;
}

/** TEST_SCHEMA with one more column. */
const WIDER: Schema = buildSchema(
  TEST_TABLES.map((one) =>
    one.name === 'accounts'
      ? { ...one, columns: [...one.columns, column('color', 'text', { notNull: true, defaultSql: `'red'` })] }
      : one,
  ),
);

/** Opens a connection of a client with this schema. */
async function openAs(server: TestServer, schema: Schema): Promise<TestConnection> {
  const connection = await server.connect();
  connection.hello(await server.token(), DATABASE, { schemaHash: schema.hash });
  connection.site.logEpoch = (await connection.next('welcome')).logEpoch;
  await connection.delivery();
  return connection;
}

beforeEach(async () => {
  ({ url, name } = await postgres.server.createPreparedDatabase());
  servers = [];
});
afterEach(async () => {
  for (const server of servers) await server.stop();
});

describe('several instances on one PostgreSQL server', () => {
  it('that stop give up commits that wait for another one; their authors send them again', async () => {
    const server = await start();
    const ann = await server.open();
    await ann.commit([insert('accounts', 'a', { name: 'a' })]);
    const lease = (until: string): Promise<unknown> =>
      postgres.server.query(
        name,
        `UPDATE rockpool.rockpool_database SET leased_by = 'another', leased_until = now() + interval '${until}'`,
      );
    await lease('1 hour');
    ann.site.write([insert('accounts', 'b', { name: 'b' })]);
    ann.push();
    await ann.roundTrip();
    await server.stop();
    expect(server.events).toContainEqual({
      event: 'push-failed',
      fields: expect.objectContaining({ problem: expect.stringMatching(/, and this one stops$/) as string }) as object,
    });
    await lease('0 s');
    const again = await (await start()).connect(ann.site);
    await again.open(await server.token(), DATABASE);
    again.push();
    expect((await again.decided(2)).outcomes).toMatchObject([{ kind: 'admitted', sequence: 2, watermark: 2 }]);
  });

  it('deliver changes that one instance has admitted to the clients of all', async () => {
    const [a, b] = [await start(), await start()];
    const [ann, ben] = [await a.open(), await b.open()];
    await ann.commit([insert('accounts', 'x', { name: 'Cash', rank: 1n })]);
    expect(deliveredRows(await ben.delivery(), 'accounts')).toMatchObject([{ kind: 'insert', key: ['x'] }]);
    await ben.commit([update('accounts', 'x', { rank: 2n })]);
    expect(deliveredRows(await ann.delivery(), 'accounts')).toMatchObject([{ kind: 'update', key: ['x'] }]);
    expect(await postgres.server.query(name, 'SELECT database_id, id, name, rank FROM rockpool.accounts')).toEqual([
      [DATABASE, 'x', 'Cash', '2'],
    ]);
    for (const { events } of [a, b])
      expect(events.filter(({ event }) => event.endsWith('-error') || event.endsWith('-failed'))).toEqual([]);
  });

  it('show the presence of members at one instance to members at another', async () => {
    const [a, b] = [await start(), await start()];
    const [ann, ben] = [await a.open(), await b.open(undefined, { principal: 'ben' })];
    const state = (stateJson: string | null): Parameters<typeof ann.send>[0] => ({
      type: 'presence',
      states: [{ tabId: new Uint8Array(16), topic: '', stateJson }],
    });
    const seen = async (connection: typeof ann, principal: string, stateJson: string | null): Promise<void> => {
      while (
        !(await connection.next('presence-update')).seen.some(
          (one) => one.principal === principal && one.stateJson === stateJson,
        )
      );
    };
    ann.send(state('1'));
    await seen(ann, 'ann', '1');
    ben.send(state('2'));
    await Promise.all([seen(ann, 'ben', '2'), seen(ben, 'ann', '1')]);
    ann.cut();
    await seen(ben, 'ann', null);
    for (const { events } of [a, b]) expect(events.filter(({ event }) => event.endsWith('-error'))).toEqual([]);
  });

  it('let a client continue at any instance, even one that has received nothing yet', async () => {
    const [a, b] = [await start(), await start()];
    const site = new TestSite();
    const [first, idle] = [await a.open(site), await b.open()];
    for (let i = 0; i < 20; i++) await first.commit([insert('entries', `e${i}`, { amount: BigInt(i) })]);
    first.cut();
    const second = await b.open(site);
    expect(site.cursor).toBe(20);
    // In the same log epoch, the client's cursor is not mistaken for one of a lost log.
    expect(await second.commit([insert('entries', 'last', { amount: 0n })])).toMatchObject({
      kind: 'admitted',
      watermark: 21,
    });
    while (idle.site.cursor < 21) await idle.delivery();
    expect(idle.closed).toBeNull();
  });

  it('admit a new session however many changes others push', async () => {
    const server = await start();
    const writers = await Promise.all(Array.from({ length: 4 }, () => server.open()));
    let isIn = false;
    const pushing = writers.map(async (writer) => {
      for (let i = 0; !isIn; i++)
        await writer.commit([
          insert('entries', `${Buffer.from(writer.site.siteId).toString('hex')}-${i}`, { amount: 1n }),
        ]);
    });
    expect((await server.open()).closed).toBeNull();
    expect(
      await server.sync.database(DATABASE).transaction((tx) => tx.insert('entries', { id: 'own', amount: 1 })),
    ).toBeGreaterThan(0);
    isIn = true;
    await Promise.all(pushing);
  });

  it('reject the same changes at every instance', async () => {
    const [a, b] = [await start(), await start()];
    const [ann, ben] = [await a.open(), await b.open()];
    await ann.commit([insert('accounts', 'x', { name: 'Cash' })]);
    expect(await ben.commit([insert('accounts', 'y', { name: 'Cash' })])).toMatchObject({
      kind: 'rejected',
      code: 'constraint-unique',
    });
    expect(await ben.commit([insert('entries', 'e', { amount: 1n, account_id: 'nobody' })])).toMatchObject({
      kind: 'rejected',
      code: 'constraint-foreign-key',
    });
    // SQLite rejects what PostgreSQL could not store.
    expect(await ben.commit([insert('entries', 'e', { amount: 1n, weight: 'heavy' })])).toMatchObject({
      kind: 'rejected',
      code: 'constraint-data-type',
    });
    expect(await ben.commit([insert('entries', 'k'.repeat(3_000), { amount: 1n })])).toMatchObject({
      kind: 'rejected',
      code: 'key-invalid',
    });
    expect(await ben.commit([insert('entries', 'e', { amount: 1n })])).toMatchObject({ kind: 'admitted' });
  });

  it('merge edits of one large document through two instances with the same result as through one', async () => {
    const [a, b] = [await start(), await start()];
    const [ann, ben] = [new Page(await a.open()), new Page(await b.open(undefined, { principal: 'ben' }))];
    // Large enough to be merged in another thread, while the other instance commits.
    const body = 'The tide comes in. '.repeat(8_000);
    const text = (members: object): string => JSON.stringify({ ...members, body });
    await ann.connection.commit([
      insert('pages', 'p', { title: 'page', content: encodeDocumentCell({ kind: 'content', json: text({}) }) }),
    ]);
    ann.state = createDocument(parseJson(text({}), PAGE_RULE), PAGE_RULE);
    ben.takeDelivery(await ben.connection.delivery());
    for (let n = 1; n <= 5; n++) {
      ann.connection.site.write([update('pages', 'p', { content: ann.edit(text({ ann: n })) })]);
      ben.connection.site.write([update('pages', 'p', { content: ben.edit(text({ ben: n })) })]);
    }
    await Promise.all([ann.meet(), ben.meet()]);
    const both = JSON.stringify({ ann: 5, ben: 5, body });
    for (const page of [ann, ben]) {
      while (page.connection.site.cursor < 11) page.takeDelivery(await page.connection.delivery());
      expect(documentText(page.state)).toBe(both);
    }
    expect(await postgres.server.query(name, 'SELECT content FROM rockpool.pages')).toEqual([[both]]);
  });

  it('apply a revocation at one instance to open sessions at every instance', async () => {
    const [a, b] = [await start(), await start()];
    const ann = await b.open();
    await a.sync.members.setRole(DATABASE, 'ann', null);
    expect(await ann.failure()).toMatchObject({ code: 'auth-database-forbidden' });
    expect(b.sync.members.list(DATABASE)).toEqual([{ principal: 'ann', role: null }]);
    const code = await a.sync.members.invite({
      databaseId: DATABASE,
      role: 'viewer',
      expiresAtMs: Date.now() + 3_600_000,
    });
    const accept = async (principal: string): Promise<number> =>
      (
        await b.ask('POST', '/invitations/accept', {
          token: await b.token('editor', principal, 'elsewhere'),
          body: JSON.stringify({ code }),
        })
      ).status;
    const principals = ['eve', 'eve', 'fay', 'fay'];
    const statuses = await Promise.all(principals.map(accept));
    expect([
      [200, 200, 400, 400],
      [400, 400, 200, 200],
    ]).toContainEqual(statuses);
    const principal = principals[statuses.indexOf(200)] as string;
    expect((await a.open(undefined, { principal, databaseId: DATABASE, role: 'viewer' })).site.cursor).toBe(0);
  });

  it('forget the members of a database that one instance, or the command, has deleted', async () => {
    const [a, b] = [await start({ admin: { token: ADMIN_TOKEN } }), await start()];
    const addZoe = async (): Promise<void> => {
      await (await a.open()).close();
      await a.sync.members.setRole(DATABASE, 'zoe', 'owner');
      await until(() => b.sync.members.list(DATABASE).length === 1);
    };
    await addZoe();
    expect((await askAdmin(a, 'DELETE', `/databases/${DATABASE}?confirm=${DATABASE}`)).status).toBe(200);
    await until(() => b.sync.members.list(DATABASE).length === 0);
    await addZoe();
    await PostgresAdministration.use(url, (administration) => administration.delete(DATABASE));
    await until(() => [a, b].every(({ sync }) => sync.members.list(DATABASE).length === 0));
  });

  it('write and follow changes for the host program', async () => {
    const [a, b] = [await start(), await start()];
    const [at, beside] = [a.sync.database(DATABASE), b.sync.database(DATABASE)];
    await Promise.all(
      [at, beside].flatMap((database, i) =>
        Array.from({ length: 10 }, (_, n) =>
          database.transaction((tx) => tx.insert('entries', { id: `${i}-${n}`, amount: n })),
        ),
      ),
    );
    const change = await beside.changesAfter(null);
    expect(change).toMatchObject({ watermark: 20, whole: true });
    expect(change?.rows).toHaveLength(20);
    await expect(
      beside.transaction((tx) => tx.insert('entries', { id: 'orphan', amount: 7, account_id: 'nobody' })),
    ).rejects.toMatchObject({ code: 'constraint-foreign-key' });
    const left = new AbortController();
    const next = beside.changes({ from: change, signal: left.signal }).next();
    await at.transaction((tx) => tx.update('entries', { id: '1-1' }, { note: 'seen' }));
    expect((await next).value).toMatchObject({
      watermark: 21,
      rows: [{ key: { id: '1-1' }, values: { note: 'seen' } }],
    });
    left.abort();
  });

  it('insert a row of the host program once, and refuse other inserts of it that began before its commit', async () => {
    const [a, b] = [await start(), await start()];
    const databases = [a, a, b, b].map(({ sync }) => sync.database(DATABASE));
    for (const id of ['x', 'y', 'z']) {
      const results = await Promise.allSettled(
        databases.map((database, i) => database.transaction((tx) => tx.insert('entries', { id, amount: i }))),
      );
      const refused = results.filter((result) => result.status === 'rejected').map(({ reason }) => reason as unknown);
      expect(refused).toHaveLength(3);
      for (const reason of refused)
        expect(reason).toMatchObject({ code: 'constraint-primary-key', fields: { table: 'entries' } });
      const stored = await b.sync.database(DATABASE).changesAfter(null);
      expect(stored?.rows.find(({ key }) => key['id'] === id)).toMatchObject({
        values: { amount: BigInt(results.findIndex(({ status }) => status === 'fulfilled')) },
      });
    }
  });

  it('serve old and new clients side by side while an additive schema is rolled out, and rolled back', async () => {
    const old = await start();
    const ann = await old.open();
    await ann.commit([insert('accounts', 'x', { name: 'Cash' })]);
    const renewed = await start({ schema: WIDER });
    // The old instance opens its copy again, now with the current tables.
    ann.site.write([insert('accounts', 'y', { name: 'Bank' })]);
    ann.push();
    expect(await ann.failure()).toMatchObject({ code: 'database-unavailable' });
    expect(await (await old.ask('GET', '/ready')).json()).toMatchObject({ status: 'ready' });
    const again = await old.open(ann.site);
    again.push();
    expect((await again.decided(2)).outcomes).toMatchObject([{ kind: 'admitted' }]);
    const renewedClients = [await openAs(renewed, WIDER), await openAs(old, WIDER)] as const;
    for (const [i, client] of renewedClients.entries()) {
      expect(
        await client.commit([insert('accounts', `new-${i}`, { name: `New ${i}`, color: `blue-${i}` })]),
      ).toMatchObject({ kind: 'admitted' });
      // The delivery omits the column that the old client does not have.
      expect(deliveredRows(await again.delivery(), 'accounts')).toMatchObject([{ key: [`new-${i}`] }]);
    }
    expect(await postgres.server.query(name, 'SELECT id, color FROM rockpool.accounts ORDER BY id')).toEqual([
      ['new-0', 'blue-0'],
      ['new-1', 'blue-1'],
      ['x', 'red'],
      ['y', 'red'],
    ]);
    // The rollback: an instance of the old version starts on the newer tables.
    await renewed.stop();
    servers.splice(servers.indexOf(renewed), 1);
    const rolledBack = await start();
    const ben = await rolledBack.open();
    await ben.commit([insert('accounts', 'z', { name: 'Safe' })]);
    expect(await postgres.server.query(name, `SELECT color FROM rockpool.accounts WHERE id = 'z'`)).toEqual([['red']]);
  });

  it('serve a session over plain HTTP, even if each request reaches a different instance', async () => {
    const [a, b] = [await start(), await start()];
    let count = 0;
    // Acts like a load balancer without sticky sessions.
    const ask: Ask = (...request) => (count++ % 2 === 0 ? a : b).ask(...request);
    const client = await HttpSessionClient.open(ask);
    await client.hello(await a.token(), DATABASE);
    expect(await client.next()).toMatchObject({ type: 'welcome' });
    expect(await client.next()).toMatchObject({ type: 'delivery', to: 0 });
    for (let sequence = 1; sequence <= 4; sequence++) {
      const changeset = client.site.write([insert('accounts', `x${sequence}`, { name: `x${sequence}` })]);
      await client.send({
        type: 'push',
        previousHash: client.site.hashes[sequence - 1] as Uint8Array,
        olderEpochUpTo: 0,
        changesets: withAges([changeset], Date.now()),
      });
      expect(await client.next()).toMatchObject({ type: 'delivery', outcomes: [{ kind: 'admitted', sequence }] });
    }
    expect(await client.leave()).toBe(204);
    // The session is unknown, or its instance no longer runs, so the client opens a new session.
    for (const id of [client.id, `gone.${client.id}`])
      for (const one of [a, b]) expect((await one.ask('GET', `/sessions/${id}`)).status).toBe(400);
    const left = await HttpSessionClient.open((...request) => b.ask(...request));
    await b.stop();
    servers.splice(servers.indexOf(b), 1);
    expect((await a.ask('GET', `/sessions/${left.id}`)).status).toBe(400);
  });

  it('name a schema that they refuse, at the start and while they run', async () => {
    const old = await start();
    await start({ schema: WIDER });
    const [accounts, ...others] = TEST_TABLES as [(typeof TEST_TABLES)[number], ...typeof TEST_TABLES];
    const other = buildSchema([{ ...accounts, columns: [...accounts.columns, column('size', 'integer')] }, ...others]);
    await expect(start({ schema: other })).rejects.toMatchObject({ code: 'schema-incompatible' });
    servers.pop();
    // Leaves the tables as an instance of a different version would.
    await postgres.server.query(
      name,
      `UPDATE rockpool.rockpool_store SET schema_hash = '${other.hash}', schema = $s$${encodeSchema(
        buildSchema([{ ...accounts, uniques: [] }, ...others]),
      )}$s$`,
    );
    const ready = await old.ask('GET', '/ready');
    expect([ready.status, await ready.json()]).toMatchObject([503, { status: 'schema-incompatible' }]);
  });

  it('serve a first sync as a file', async () => {
    const server = await start({ snapshots: { minFileBytes: 1, maxTailChangesets: 100 } });
    await (await server.open()).commit([insert('accounts', 'x', { name: 'Cash' })]);
    const answer = await server.ask('GET', `/databases/${DATABASE}/snapshot?schema=${TEST_SCHEMA.hash}`, {
      token: await server.token(),
    });
    expect(answer.status).toBe(200);
    expect((await answer.arrayBuffer()).byteLength).toBeGreaterThan(100);
  });

  it('are not ready and acknowledge nothing while PostgreSQL does not respond, and continue afterwards', async () => {
    const server = await start();
    const ann = await server.open();
    await ann.commit([insert('accounts', 'x', { name: 'Cash' })]);
    expect((await server.ask('GET', '/ready')).status).toBe(200);
    await postgres.server.query('postgres', `ALTER DATABASE ${name} ALLOW_CONNECTIONS false`);
    const disconnect = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}'`;
    await postgres.server.query('postgres', disconnect);
    expect((await server.ask('GET', '/ready')).status).toBe(503);
    ann.site.write([insert('accounts', 'y', { name: 'Bank' })]);
    ann.push();
    expect(await ann.failure()).toMatchObject({ code: 'database-unavailable' });
    await postgres.server.query('postgres', `ALTER DATABASE ${name} ALLOW_CONNECTIONS true`);
    const again = await server.open(ann.site);
    again.push();
    expect((await again.decided(2)).outcomes).toMatchObject([{ kind: 'admitted', watermark: 2 }]);
    expect(await (await server.ask('GET', '/metrics')).text()).toMatch(
      /rockpool_postgres_commit_duration_seconds_count [1-9]/,
    );
  });

  it('continue after PostgreSQL was restored to an older state, and clients send what it lost', async () => {
    const server = await start();
    const ann = await server.open();
    await ann.commit([insert('accounts', 'kept', { name: 'Kept' })]);
    await postgres.server.query(name, 'CREATE SCHEMA backup');
    const tables = (
      await postgres.server.query(name, `SELECT tablename FROM pg_tables WHERE schemaname = 'rockpool'`)
    ).map(([table]) => table as string);
    for (const table of tables)
      await postgres.server.query(name, `CREATE TABLE backup.${table} AS SELECT * FROM rockpool.${table}`);
    await ann.commit([insert('accounts', 'lost', { name: 'Lost' })]);
    for (const table of tables)
      await postgres.server.query(
        name,
        `BEGIN; DELETE FROM rockpool.${table}; INSERT INTO rockpool.${table} SELECT * FROM backup.${table}; COMMIT`,
      );
    ann.site.write([insert('accounts', 'next', { name: 'Next' })]);
    ann.push();
    expect(await ann.failure()).toMatchObject({ code: 'database-unavailable' });
    const again = await server.connect(ann.site);
    again.hello(await server.token(), DATABASE);
    // A new log epoch and a full resync, which show the client what this log lacks.
    expect(await again.next('welcome')).toMatchObject({ fullResync: true, lastAckedSequence: 1, watermark: 1 });
  });
});
