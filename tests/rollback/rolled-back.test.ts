import { memoryMedium, type Medium } from '#vfs-opfs/index.ts';
import { buildSchema, decodeSchema, encodeSchema, type Schema, type TableSchema } from '#shared/index.ts';
import { openStored } from '#client/testing/worker/test-database.ts';
import { insert, update } from '#sync-server/testing/changeset.ts';
import { TestSite, type TestConnection } from '#sync-server/testing/test-client.ts';
import { ACCOUNTS, column, table, TEST_TABLES } from '#sync-server/testing/test-schema.ts';
import { DATABASE, TestServer } from '#sync-server/testing/test-server.ts';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SocketDevice } from '#kit/socket-device.ts';
import { temporaryFolder } from '#kit/temporary-folder.ts';
import { REAL_PLATFORM } from '#kit/test-device.ts';

/** The schema in the form that a page sends. */
const schemaOf = (tables: readonly TableSchema[]): Schema => decodeSchema(encodeSchema(buildSchema(tables)));

const OLDER: Schema = schemaOf(TEST_TABLES);
const NEWER: Schema = schemaOf([
  ...TEST_TABLES.filter(({ name }) => name !== 'accounts'),
  {
    ...ACCOUNTS,
    columns: [
      ...ACCOUNTS.columns,
      column('colour', 'text', { notNull: true, defaultSql: `'grey'` }),
      column('icon', 'text'),
    ],
  },
  table('tags', [column('id', 'text', { notNull: true }), column('account_id', 'text')]),
]);

let folder: string;
let server: TestServer;
/** One browser profile: successive bundles open its database. */
let medium: Medium;
let device: SocketDevice;
beforeEach(() => {
  folder = temporaryFolder();
  medium = memoryMedium();
});
afterEach(async () => {
  expect(device.problems).toEqual([]);
  await device.close();
  await server.stop();
});

/** Starts a bundle with this schema. Close the running one first. */
async function open(schema: Schema): Promise<void> {
  device = new SocketDevice({
    server: () => server,
    opened: await openStored(medium, { schema, ...REAL_PLATFORM }),
    auditTimes: { quietMs: 1, intervalMs: 1 },
  });
  device.start();
}

/** Starts a bundle with this schema instead of the running one. */
async function reopen(schema: Schema): Promise<void> {
  expect(device.problems).toEqual([]);
  await device.close();
  await open(schema);
}

async function otherDevice(): Promise<TestConnection> {
  const site = new TestSite();
  const connection = await server.connect(site);
  connection.hello(await server.token(), DATABASE, { schemaHash: NEWER.hash });
  site.logEpoch = (await connection.next('welcome')).logEpoch;
  await connection.delivery();
  return connection;
}

async function upgradeServer(): Promise<void> {
  await server.stop();
  server = await TestServer.start(folder, { schema: NEWER });
}

const ACCOUNTS_HERE = 'SELECT id, name, rank, colour, icon FROM accounts ORDER BY id';

describe('an app that is rolled back while the server is not', () => {
  it('syncs both ways with the older bundle, including unknown columns, and the newer bundle finds everything without a full resync', async () => {
    server = await TestServer.start(folder, { schema: NEWER });
    await open(NEWER);
    device.write("INSERT INTO accounts VALUES ('a', 'a', 1, 'red', 'star')");
    await device.upToDate();
    const other = await otherDevice();

    await reopen(OLDER);
    device.write("INSERT INTO accounts (id, name) VALUES ('b', 'b')");
    device.write("UPDATE accounts SET rank = 2 WHERE id = 'a'");
    await device.upToDate();
    await other.commit([insert('accounts', 'c', { name: 'c', rank: 3n })]);
    await other.commit([
      update('accounts', 'c', { colour: 'blue', icon: 'moon' }),
      update('accounts', 'a', { colour: 'green' }),
      insert('tags', 't', { account_id: 'c' }),
    ]);
    await device.until(() => device.rows('SELECT id FROM tags').length === 1);
    const expected = [
      ['a', 'a', 2, 'green', 'star'],
      ['b', 'b', null, 'grey', null],
      ['c', 'c', 3, 'blue', 'moon'],
    ];
    expect(device.rows(ACCOUNTS_HERE)).toEqual(expected);

    await reopen(NEWER);
    expect(device.database.meta.wantsFullResync).toBe(false);
    await device.upToDate();
    expect(device.rows(ACCOUNTS_HERE)).toEqual(expected);
    expect(server.query(ACCOUNTS_HERE)).toEqual(
      expected.map((row) => row.map((value) => (typeof value === 'number' ? BigInt(value) : value))),
    );
  });

  it("sends the newer bundle's pending writes with the older bundle", async () => {
    server = await TestServer.start(folder, { schema: NEWER });
    await open(NEWER);
    await device.upToDate();
    await device.close();
    // Offline.
    const offline = await openStored(medium, { schema: NEWER, nowMs: Date.now });
    offline.database.write({
      id: 'offline',
      statements: [{ sql: "INSERT INTO accounts VALUES ('a', 'a', 1, 'red', 'star')", params: [] }],
    });
    await offline.close();
    await open(OLDER);
    await device.upToDate();
    expect(server.query(ACCOUNTS_HERE)).toEqual([['a', 'a', 1n, 'red', 'star']]);
  });
});

it('a server that is rolled back serves older and newer bundles with the newer schema of the database', async () => {
  server = await TestServer.start(folder, { schema: NEWER });
  await open(NEWER);
  device.write("INSERT INTO accounts VALUES ('a', 'a', 1, 'red', 'star')");
  await device.upToDate();
  await device.close();
  await server.stop();
  server = await TestServer.start(folder, { schema: OLDER });
  await open(OLDER);
  device.write("UPDATE accounts SET rank = 2 WHERE id = 'a'");
  await device.upToDate();
  await reopen(NEWER);
  device.write("UPDATE accounts SET icon = 'moon' WHERE id = 'a'");
  await device.upToDate();
  expect(server.query(ACCOUNTS_HERE)).toEqual([['a', 'a', 2n, 'red', 'moon']]);
});

describe('an app that is rolled back because its server was never updated', () => {
  it('syncs with the older server, and gets a full resync once the server has the newer schema', async () => {
    server = await TestServer.start(folder, { schema: OLDER });
    await open(OLDER);
    device.write("INSERT INTO accounts (id, name) VALUES ('a', 'a')");
    await device.upToDate();
    await reopen(NEWER);
    await device.until((report) => report?.reason?.code === 'schema-mismatch');

    await reopen(OLDER);
    await device.upToDate();
    device.write("INSERT INTO accounts (id, name) VALUES ('b', 'b')");
    // Each round is long enough for an audit, which would compare columns that the server lacks.
    for (let rank = -20; rank <= 2; rank++) {
      device.write(`UPDATE accounts SET rank = ${rank} WHERE id = 'a'`);
      await device.upToDate();
    }
    expect(device.report).toMatchObject({ pendingCount: 0, rejectedCount: 0 });
    expect(device.messages.map(({ type }) => type)).not.toContain('audit');
    expect(server.query('SELECT id, rank FROM accounts ORDER BY id')).toEqual([
      ['a', 2n],
      ['b', null],
    ]);

    await device.close();
    await upgradeServer();
    const other = await otherDevice();
    await other.commit([update('accounts', 'a', { colour: 'red' })]);
    await open(NEWER);
    await device.upToDate();
    expect(device.rows(ACCOUNTS_HERE)).toEqual([
      ['a', 'a', 2, 'red', null],
      ['b', 'b', null, 'grey', null],
    ]);
  });

  it('keeps writes to columns that the server lacks, and sends them once the server has the columns', async () => {
    server = await TestServer.start(folder, { schema: OLDER });
    await open(NEWER);
    device.write("INSERT INTO accounts VALUES ('a', 'a', 1, 'red', 'star')");
    await device.until((report) => report?.reason?.code === 'schema-mismatch');
    await reopen(OLDER);
    device.write("UPDATE accounts SET rank = 2 WHERE id = 'a'");
    await device.until((report) => report?.reason?.code === 'schema-mismatch');
    expect(device.report).toMatchObject({ state: 'blocked', pendingCount: 2, rejectedCount: 0 });
    await device.close();
    await upgradeServer();
    await open(OLDER);
    await device.upToDate();
    expect(server.query(ACCOUNTS_HERE)).toEqual([['a', 'a', 2n, 'red', 'star']]);
  });
});
