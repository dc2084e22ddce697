import {
  buildSchema,
  columnIdOf,
  decodeOutline,
  outlineDifferences,
  outlineOf,
  tableIdOf,
  type Schema,
  type SchemaOutline,
} from '@rockpool/shared';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { insert, remove, update, type Change } from '../../testing/changeset.ts';
import { TestSite, type TestConnection } from '../../testing/test-client.ts';
import { ACCOUNTS, column, ENTRIES, PRODUCTS, table, TEST_SCHEMA, TEST_TABLES } from '../../testing/test-schema.ts';
import { DATABASE, TestServer } from '../../testing/test-server.ts';
import { schemaView } from './schema-view.ts';
import { temporaryFolder } from '../../../../tests/kit/temporary-folder.ts';

/**
 * The schema of the app's next version: a column with a default, one without, and a table that refers to an old one.
 */
const NEWER: Schema = buildSchema([
  ...TEST_TABLES.filter(({ name }) => name !== 'accounts'),
  {
    ...ACCOUNTS,
    columns: [
      ...ACCOUNTS.columns,
      column('colour', 'text', { notNull: true, defaultSql: `'grey'` }),
      column('icon', 'text'),
    ],
  },
  table('tags', [column('id', 'text', { notNull: true }), column('account_id', 'text')], {
    foreignKeys: [
      {
        columns: ['account_id'],
        foreignTable: 'accounts',
        foreignColumns: ['id'],
        onDelete: 'cascade',
        onUpdate: 'no action',
      },
    ],
  }),
]);

let folder: string;
let server: TestServer;
beforeEach(async () => {
  folder = temporaryFolder();
  server = await TestServer.start(folder);
});
afterEach(async () => {
  await server.stop();
});

async function upgradeServer(): Promise<void> {
  await server.stop();
  server = await TestServer.start(folder, { schema: NEWER });
}

async function connect(schema: Schema, site = new TestSite()): Promise<TestConnection> {
  const connection = await server.connect(site);
  connection.hello(await server.token(), DATABASE, { schemaHash: schema.hash });
  site.logEpoch = (await connection.next('welcome')).logEpoch;
  await connection.delivery();
  return connection;
}

/** An insert by the newer version. */
const account = (id: string, colour: string): Change =>
  insert('accounts', id, { name: id, rank: null, colour, icon: 'purse' });

describe('a client of an older version', () => {
  it('syncs with a newer server, which keeps the columns that the client does not know', async () => {
    const site = new TestSite();
    const before = await connect(TEST_SCHEMA, site);
    await before.commit([insert('accounts', 'a', { name: 'a', rank: 1n })]);
    await before.close();
    await upgradeServer();
    const old = await connect(TEST_SCHEMA, site);
    const fresh = await connect(NEWER);
    await old.commit([insert('accounts', 'b', { name: 'b', rank: 2n })]);
    // The delivery has the default of the column that the author does not know.
    const group = (await fresh.delivery()).groups[0];
    expect(group?.values[group.columnIds.indexOf(columnIdOf('colour'))]).toEqual(['grey']);
    await fresh.commit([
      update('accounts', 'a', { colour: 'red', rank: 5n }),
      insert('tags', 't', { account_id: 'a' }),
    ]);
    expect((await old.delivery()).groups).toMatchObject([
      { tableId: tableIdOf('accounts'), kind: 'update', columnIds: [columnIdOf('rank')], values: [[5n]] },
    ]);
    await fresh.commit([update('accounts', 'a', { icon: 'coin' })]);
    expect((await old.delivery()).groups).toEqual([]);
    await old.commit([update('accounts', 'a', { name: 'A' })]);
    expect(server.query('SELECT id, name, rank, colour, icon FROM accounts ORDER BY id')).toEqual([
      ['a', 'A', 5n, 'red', 'coin'],
      ['b', 'b', 2n, 'grey', null],
    ]);
    // The server also deletes the rows that refer to the deleted row, which the client never received.
    await old.commit([remove('accounts', 'a')]);
    expect(server.query('SELECT count(*) FROM tags')).toEqual([[0n]]);
  });

  it('may be new to the database if the server has its schema', async () => {
    await upgradeServer();
    expect((await connect(TEST_SCHEMA)).closed).toBeNull();
    await server.stop();
    const other = temporaryFolder();
    server = await TestServer.start(other, { schema: NEWER, olderSchemas: [TEST_SCHEMA] });
    expect((await connect(TEST_SCHEMA)).closed).toBeNull();
  });

  it('receives everything that its older schema lacked after it is upgraded', async () => {
    await upgradeServer();
    const site = new TestSite();
    const old = await connect(TEST_SCHEMA, site);
    const fresh = await connect(NEWER);
    await fresh.commit([account('a', 'red')]);
    expect((await old.delivery()).groups[0]?.columnIds).toEqual([columnIdOf('name'), columnIdOf('rank')]);
    await old.close();
    const upgraded = await server.connect(site);
    upgraded.hello(await server.token(), DATABASE, { schemaHash: NEWER.hash, fullResync: true });
    expect(await upgraded.next('welcome')).toMatchObject({ fullResync: true });
    const whole = await upgraded.next('delivery');
    expect(whole).toMatchObject({ whole: true, to: 1 });
    expect(whole.groups.flatMap(({ columnIds }) => columnIds)).toContain(columnIdOf('colour'));
  });

  it('must upgrade if its writes would have a different meaning', async () => {
    const site = new TestSite();
    await (await connect(TEST_SCHEMA, site)).close();
    const missing = { column: null, problem: 'the table is missing' };
    for (const [name, schema, difference] of [
      ['unknown', buildSchema([ACCOUNTS]), { ...missing, table: 'cards', side: 'client' }],
      ['newer', NEWER, { table: 'accounts', column: 'colour', side: 'server', problem: 'the column is missing' }],
    ] as const) {
      const connection = await server.connect();
      connection.hello(await server.token(), DATABASE, { schemaHash: schema.hash });
      const { code, fields } = await connection.failure();
      const outline = decodeOutline(fields['outline']) as SchemaOutline;
      expect([code, outlineDifferences(outlineOf(schema), outline)[0]], name).toEqual(['schema-mismatch', difference]);
    }
  });
});

describe('a server that is rolled back to an older schema', () => {
  it('serves databases with the newer schema to old and new clients, and names the schema in its log', async () => {
    await upgradeServer();
    const site = new TestSite();
    await (await connect(NEWER, site)).commit([account('a', 'red')]);
    await server.stop();
    server = await TestServer.start(folder);
    await server.sync.ready();
    expect(await (await server.ask('GET', '/ready')).json()).toMatchObject({ status: 'ready', unservableDatabases: 0 });
    const [old, fresh] = [await connect(TEST_SCHEMA), await connect(NEWER, site)];
    expect(await fresh.commit([account('b', 'blue')])).toMatchObject({ kind: 'admitted' });
    expect((await old.delivery()).groups[0]?.columnIds).not.toContain(columnIdOf('colour'));
    await old.commit([insert('accounts', 'c', { name: 'c', rank: 3n })]);
    expect(server.query('SELECT id, colour FROM accounts ORDER BY id')).toEqual([
      ['a', 'red'],
      ['b', 'blue'],
      ['c', 'grey'],
    ]);
    await server.logged('newer-schema');
    expect(server.events.filter(({ event }) => event === 'newer-schema')).toEqual([
      { event: 'newer-schema', fields: { database: DATABASE, schema: NEWER.hash, server: TEST_SCHEMA.hash } },
    ]);
  });
});

describe('an older schema', () => {
  const changed = (tableName: string, change: Partial<(typeof TEST_TABLES)[number]>): Schema =>
    buildSchema(TEST_TABLES.map((one) => (one.name === tableName ? { ...one, ...change } : one)));

  it('is served if the newer one only adds', () => {
    expect(schemaView(TEST_SCHEMA, NEWER)?.get(ACCOUNTS.id)?.size).toBe(2);
    expect(schemaView(TEST_SCHEMA, TEST_SCHEMA)).not.toBeNull();
  });

  it.each([
    [
      'lacks a column',
      changed('entries', { columns: ENTRIES.columns.filter(({ name }) => name !== 'note'), indexes: [] }),
    ],
    ['changes a constraint', changed('accounts', { uniques: [] })],
    ['makes a column a counter', changed('products', { merge: { ...PRODUCTS.merge, counters: [] } })],
    ['puts columns into a group', changed('products', { merge: { ...PRODUCTS.merge, groups: [] } })],
    ['changes the delete rule', changed('products', { merge: { ...PRODUCTS.merge, deleteRule: 'update-wins' } })],
  ])('is not served if the newer one %s', (_, newer) => {
    expect(schemaView(TEST_SCHEMA, newer)).toBeNull();
  });
});
