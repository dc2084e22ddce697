import { RockpoolError, type Client, type RestorePlan, type RestoreSelection } from '#client/index.ts';
import { createDevice } from '#client/node/index.ts';
import { defineSchema } from '#client/schema/index.ts';
import { shows, useClientsOfServer } from '#kit/clients-of-server.ts';
import {
  integer,
  sqliteTable,
  text,
  type AnySQLiteColumn,
} from '../../packages/client/node_modules/drizzle-orm/sqlite-core/index.js';
import { describe, expect, it } from 'vitest';

const account = sqliteTable('account', { id: text().primaryKey(), name: text() });
const entry = sqliteTable('entry', {
  id: text().primaryKey(),
  account: text().references((): AnySQLiteColumn => account.id, { onDelete: 'cascade' }),
  amount: integer(),
  note: text(),
  hits: integer().notNull().default(0),
});
const page = sqliteTable('page', {
  id: text().primaryKey(),
  hits: integer().notNull().default(0),
  details: text(),
});
const tag = sqliteTable('tag', { name: text().primaryKey() });
const schema = defineSchema(
  { account, entry, page, tag },
  {
    history: [account, entry, page],
    merge: [
      { table: entry, counters: [entry.hits] },
      { table: page, counters: [page.hits], documents: [{ column: page.details, text: ['body'] }] },
    ],
  },
);

const world = useClientsOfServer({ schema });
const open = (principal: string): Promise<Client> => world.open({ principal });

async function write(client: Client, ...statements: string[]): Promise<void> {
  await client.batch(statements.map((sql) => ({ sql, params: [] }))).synced;
}

const showsRow = (client: Client, sql: string): Promise<void> => shows(client, sql, 1);

/** Plans on a client the restore of everything that Bob wrote, or of the given selection. */
async function planOf(
  client: Client,
  selection: RestoreSelection = { author: 'bob', fromMs: 1 },
): Promise<RestorePlan> {
  return client.planRestore(selection);
}

const entries = (client: Client): Promise<unknown[]> =>
  client.query('SELECT id, amount, note, hits FROM entry ORDER BY id');

describe('a planned restore', () => {
  it('reverts inserts, updates and deletes of one user as one transaction that can be undone', async () => {
    const [ann, bob] = [await open('ann'), await open('bob')];
    await write(ann, `INSERT INTO entry (id, amount, note) VALUES ('a', 1, 'one'), ('b', 2, 'two'), ('c', 3, 'three')`);
    await showsRow(bob, `SELECT 1 FROM entry WHERE id = 'c'`);
    const before = await entries(ann);
    await write(bob, `UPDATE entry SET amount = 10 WHERE id = 'a'`, `INSERT INTO entry (id) VALUES ('new')`);
    await write(
      bob,
      `UPDATE entry SET amount = 11, hits = hits + 4 WHERE id = 'a'`,
      `DELETE FROM entry WHERE id = 'b'`,
    );
    const after = await entries(bob);
    const plan = await planOf(ann);
    expect(plan).toMatchObject({ transactions: 2, conflicts: [] });
    expect(plan.rows.map(({ key, kind, changes }) => [key[0], kind, changes.map(({ column }) => column)])).toEqual([
      ['a', 'update', ['amount', 'hits']],
      ['b', 'insert', ['amount', 'note', 'hits']],
      ['new', 'delete', ['hits']],
    ]);
    // A plan writes nothing.
    expect(await entries(ann)).toEqual(after);
    await plan.apply();
    await plan.apply();
    expect(await entries(ann)).toEqual(before);
    await ann.undo();
    expect(await entries(ann)).toEqual(after);
  });

  it('is applied once, even if its commit is reported as not flushed', async () => {
    const ann = await open('ann');
    await write(ann, `INSERT INTO entry (id) VALUES ('e')`);
    await write(ann, `UPDATE entry SET hits = hits + 4`);
    const [{ version } = { version: null }] = (await (await ann.history('entry', 'e')).page()).versions;
    const plan = await planOf(ann, { version: version ?? 0 });
    const { transaction } = ann;
    ann.transaction = (...given: Parameters<typeof transaction>) =>
      Object.assign(
        transaction(...given).then(() => Promise.reject(new RockpoolError('storage-unflushed'))),
        { synced: Promise.resolve() },
      );
    await expect(plan.apply()).rejects.toMatchObject({ code: 'storage-unflushed' });
    await expect(plan.apply()).rejects.toMatchObject({ code: 'storage-unflushed' });
    expect(await ann.query('SELECT hits FROM entry')).toEqual([{ hits: 0 }]);
  });

  it('is applied once, even if the outcome of its commit is unknown', async () => {
    const ann = await open('ann');
    await write(ann, `INSERT INTO entry (id) VALUES ('e')`);
    await write(ann, `UPDATE entry SET hits = hits + 4`);
    const [{ version } = { version: null }] = (await (await ann.history('entry', 'e')).page()).versions;
    const plan = await planOf(ann, { version: version ?? 0 });
    const { transaction } = ann;
    ann.transaction = (...given: Parameters<typeof transaction>) =>
      Object.assign(
        transaction(...given).then(() => Promise.reject(new RockpoolError('leader-unreachable'))),
        { synced: Promise.resolve() },
      );
    await expect(plan.apply()).rejects.toMatchObject({ code: 'leader-unreachable' });
    expect(await plan.apply()).toMatchObject({ rows: plan.rows, conflicts: [] });
    expect(await ann.query('SELECT hits FROM entry')).toEqual([{ hits: 0 }]);
  });

  it('reverts one transaction, only in the named tables', async () => {
    const ann = await open('ann');
    await write(ann, `INSERT INTO account VALUES ('x', 'cash')`, `INSERT INTO entry (id, amount) VALUES ('e', 1)`);
    await write(ann, `UPDATE account SET name = 'bank'`, `UPDATE entry SET amount = 2`);
    const [{ version } = { version: null }] = (await (await ann.history('entry', 'e')).page()).versions;
    const plan = await planOf(ann, { version: version ?? 0, tables: ['entry'] });
    await plan.apply();
    expect(await ann.query('SELECT amount FROM entry')).toEqual([{ amount: 1 }]);
    expect(await ann.query('SELECT name FROM account')).toEqual([{ name: 'bank' }]);
  });

  it('keeps additions and edits by other users, including those in between', async () => {
    const [ann, bob] = [await open('ann'), await open('bob')];
    await write(ann, `INSERT INTO page (id, details) VALUES ('e', '{"body":"We meet on Monday.","n":1}')`);
    await showsRow(bob, 'SELECT 1 FROM page');
    await write(bob, `UPDATE page SET hits = hits + 5, details = '{"body":"We meet on Friday.","n":2}'`);
    await showsRow(ann, 'SELECT 1 FROM page WHERE hits = 5');
    await write(ann, `UPDATE page SET hits = hits + 20, details = '{"body":"Today we meet on Friday.","n":3}'`);
    await showsRow(bob, 'SELECT 1 FROM page WHERE hits = 25');
    await write(bob, `UPDATE page SET hits = hits + 300, details = '{"body":"Today we meet on Friday. Come!","n":3}'`);
    await showsRow(ann, 'SELECT 1 FROM page WHERE hits = 325');
    await write(ann, `UPDATE page SET hits = hits + 4000`);
    const { conflicts } = await (await planOf(ann)).apply();
    expect(conflicts).toEqual([]);
    expect(await ann.query('SELECT hits, details FROM page')).toEqual([
      { hits: 4020, details: '{"body":"Today we meet on Monday.","n":3}' },
    ]);
  });

  it('restores only the places of a document that were written again, and keeps what others wrote in the rest', async () => {
    const [ann, bob] = [await open('ann'), await open('bob')];
    await write(ann, `INSERT INTO page (id, details) VALUES ('e', '{"items":[{"id":"a","n":1}]}')`);
    await showsRow(bob, 'SELECT 1 FROM page');
    await write(bob, `UPDATE page SET details = '{"items":[{"id":"a","n":2}]}', hits = 5`);
    await showsRow(ann, 'SELECT 1 FROM page WHERE hits = 5');
    await write(ann, `UPDATE page SET details = '{"body":"A long text.","items":[]}'`);
    const plan = await planOf(ann);
    expect(plan.conflicts).toMatchObject([{ kind: 'cell', column: 'details' }]);
    await plan.apply({ conflicts: 'restore' });
    expect(await ann.query('SELECT details FROM page')).toEqual([
      { details: '{"body":"A long text.","items":[{"id":"a","n":1}]}' },
    ]);
  });

  it('shows values that were written again as conflicts, and leaves the decision to the app', async () => {
    const [ann, bob] = [await open('ann'), await open('bob')];
    await write(ann, `INSERT INTO entry (id, amount, note) VALUES ('a', 1, 'one'), ('b', 2, 'two')`);
    await showsRow(bob, `SELECT 1 FROM entry WHERE id = 'b'`);
    await write(
      bob,
      `UPDATE entry SET amount = 10, note = 'bob'`,
      `INSERT INTO entry (id, note) VALUES ('new', 'bob')`,
    );
    await showsRow(ann, `SELECT 1 FROM entry WHERE id = 'new'`);
    await write(ann, `UPDATE entry SET note = 'ann' WHERE id IN ('a', 'new')`, `DELETE FROM entry WHERE id = 'b'`);
    const plan = await planOf(ann);
    expect(plan.conflicts).toEqual([
      {
        kind: 'cell',
        table: 'entry',
        key: ['a'],
        column: 'note',
        written: 'bob',
        restored: 'one',
        current: 'ann',
      },
      expect.objectContaining({ kind: 'deleted-since', key: ['b'] }),
      expect.objectContaining({ kind: 'deleted-by-restore', key: ['new'] }),
    ]);
    await expect(plan.apply()).rejects.toMatchObject({ code: 'restore-conflicts', fields: { count: 3 } });
    const late = (async () => 'restore') as unknown as () => 'restore';
    await expect(plan.apply({ conflicts: late })).rejects.toMatchObject({ code: 'config-invalid' });
    await plan.apply({ conflicts: ({ kind }) => (kind === 'deleted-since' ? 'restore' : 'keep') });
    expect(await ann.query('SELECT id, amount, note FROM entry ORDER BY id')).toEqual([
      { id: 'a', amount: 1, note: 'ann' },
      { id: 'b', amount: 2, note: 'two' },
      { id: 'new', amount: null, note: 'ann' },
    ]);
  });

  it('asks before it deletes a row that newer rows refer to', async () => {
    const [ann, bob] = [await open('ann'), await open('bob')];
    await write(bob, `INSERT INTO account VALUES ('x', 'cash')`);
    await showsRow(ann, 'SELECT 1 FROM account');
    await write(ann, `INSERT INTO entry (id, account) VALUES ('e', 'x')`);
    const plan = await planOf(ann);
    expect(plan.conflicts).toMatchObject([{ kind: 'deleted-by-restore', table: 'account', key: ['x'] }]);
    expect(plan.rows.map(({ table, kind }) => [table, kind])).toEqual([
      ['account', 'delete'],
      ['entry', 'delete'],
    ]);
    expect(await plan.apply({ conflicts: 'keep' })).toMatchObject({ rows: [] });
    expect(await ann.query('SELECT id FROM entry')).toHaveLength(1);
  });

  it('rejects unsent transactions, invalid selections, and a client without a server', async () => {
    const ann = await open('ann');
    await write(ann, `INSERT INTO entry (id, amount) VALUES ('e', 1)`);
    await ann.sync.pause();
    const beforeMs = Date.now();
    await ann.execute('UPDATE entry SET amount = 2');
    await expect(planOf(ann, { author: 'ann', fromMs: 1 })).rejects.toMatchObject({
      code: 'changes-unsent',
      fields: { pendingCount: 1 },
    });
    // The period ends before the writes, so it selects nothing.
    expect(await planOf(ann, { author: 'ann', fromMs: 1, toMs: beforeMs - 3_600_000 })).toMatchObject({ rows: [] });
    expect(await planOf(ann)).toMatchObject({ transactions: 0, rows: [], conflicts: [] });
    await expect(planOf(ann, {})).rejects.toMatchObject({ code: 'request-invalid' });
    await expect(planOf(ann, { fromMs: 1.5 })).rejects.toMatchObject({ code: 'request-invalid' });
    await expect(planOf(ann, { fromMs: 1, site: 'x' })).rejects.toMatchObject({ code: 'request-invalid' });
    await expect(planOf(ann, { fromMs: 1, tables: ['tag'] })).rejects.toMatchObject({ code: 'history-not-kept' });
    await expect(planOf(ann, { fromMs: 1, tables: ['no'] })).rejects.toMatchObject({ code: 'schema-unknown-table' });
    const alone = await createDevice().createClient({ name: 'alone', schema });
    world.closesLater(alone);
    await expect(planOf(alone)).rejects.toMatchObject({ code: 'config-invalid' });
  });
});
