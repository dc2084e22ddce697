import type { Client, PastState } from '#client/index.ts';
import { createDevice } from '#client/node/index.ts';
import { defineSchema } from '#client/schema/index.ts';
import { useClientsOfServer } from '#kit/clients-of-server.ts';
import { integer, sqliteTable, text } from '../../packages/client/node_modules/drizzle-orm/sqlite-core/index.js';
import { afterEach, describe, expect, it, vi } from 'vitest';

const entry = sqliteTable('entry', {
  id: text().primaryKey(),
  amount: integer().notNull(),
  details: text(),
});
const tag = sqliteTable('tag', { name: text().primaryKey() });
const schema = defineSchema(
  { entry, tag },
  { history: [entry], merge: [{ table: entry, documents: [entry.details] }] },
);

const world = useClientsOfServer({ schema, historyRole: 'editor' });
const open = (role: 'editor' | 'viewer' = 'editor'): Promise<Client> =>
  world.open({ principal: `ann as ${role}`, role });

afterEach(() => vi.restoreAllMocks());

async function write(client: Client, sql: string): Promise<void> {
  await client.execute(sql).synced;
}

const rowsOf = (past: PastState): Promise<unknown[]> => past.query('SELECT id, amount FROM entry ORDER BY id');

describe('client.past', () => {
  it('queries the database as it was after a version, and at a time', async () => {
    const client = await open();
    const startMs = world.nowMs;
    await write(client, `INSERT INTO entry (id, amount) VALUES ('x', 1), ('y', 2)`);
    world.nowMs += 1_000;
    await write(client, `UPDATE entry SET amount = 5 WHERE id = 'x'`);
    world.nowMs += 1_000;
    await write(client, `DELETE FROM entry WHERE id = 'y'`);
    const { versions } = await (await client.history('entry', 'x')).page();
    const first = await client.past({ version: versions[1]?.version ?? 0 });
    expect(await rowsOf(first)).toEqual([
      { id: 'x', amount: 1 },
      { id: 'y', amount: 2 },
    ]);
    expect(first).toMatchObject({ version: 1, receivedMs: startMs });
    const second = await client.past({ time: new Date(startMs + 1_500) });
    expect(second).toMatchObject({ version: 2, receivedMs: startMs + 1_000 });
    expect(await second.query('SELECT amount FROM entry WHERE id = ?', ['x'])).toEqual([{ amount: 5 }]);
    expect(await second.query('SELECT count(*) AS n FROM entry')).toEqual([{ n: 2 }]);
    expect(await rowsOf(await client.past({ time: world.nowMs }))).toEqual([{ id: 'x', amount: 5 }]);
    // All past states are open at the same time as the current database.
    expect(await rowsOf(first)).toHaveLength(2);
    expect(await client.query('SELECT count(*) AS n FROM entry')).toEqual([{ n: 1 }]);
  });

  it('opens two states at the same time, and downloads each once', async () => {
    const client = await open();
    await write(client, `INSERT INTO entry (id, amount) VALUES ('x', 1)`);
    await write(client, `UPDATE entry SET amount = 5`);
    const fetched = vi.spyOn(world.server.app, 'fetch');
    const states = await Promise.all([1, 2].map((version) => client.past({ version })));
    const amounts = await Promise.all(states.map((state) => state.query('SELECT amount FROM entry')));
    expect(amounts).toEqual([[{ amount: 1 }], [{ amount: 5 }]]);
    expect(fetched.mock.calls.filter(([{ url }]) => url.includes('/past?'))).toHaveLength(2);
  });

  it('shows documents as their JSON', async () => {
    const client = await open();
    await write(client, `INSERT INTO entry (id, amount, details) VALUES ('x', 1, '{"tags":["a"]}')`);
    await write(client, `UPDATE entry SET details = '{"tags":["a","b"]}' WHERE id = 'x'`);
    const past = await client.past({ version: 1 });
    expect(await past.query(`SELECT details ->> '$.tags[0]' AS tag, details FROM entry`)).toEqual([
      { tag: 'a', details: '{"tags":["a"]}' },
    ]);
  });

  it('reports the progress of the download', async () => {
    const client = await open();
    await write(client, `INSERT INTO entry (id, amount) VALUES ('x', 1)`);
    const reports: { readonly receivedBytes: number; readonly totalBytes: number }[] = [];
    await client.past({ version: 1 }, { onProgress: (progress) => reports.push(progress) });
    expect(reports.at(-1)?.totalBytes).toBeGreaterThan(0);
    expect(reports.at(-1)?.receivedBytes).toBe(reports.at(-1)?.totalBytes);
  });

  it('is opened although the app throws in `onProgress`', async () => {
    const reported = vi.fn();
    vi.stubGlobal('reportError', reported);
    const client = await open();
    await write(client, `INSERT INTO entry (id, amount) VALUES ('x', 1)`);
    const onProgress = (): never => {
      throw new Error('of the app');
    };
    const past = await client.past({ version: 1 }, { onProgress });
    expect(await past.query('SELECT id FROM entry')).toEqual([{ id: 'x' }]);
    expect(reported).toHaveBeenCalled();
    vi.unstubAllGlobals();
  });

  it('rejects writes, tables without a history, and queries after it is closed', async () => {
    const client = await open();
    await write(client, `INSERT INTO entry (id, amount) VALUES ('x', 1)`);
    const past = await client.past({ version: 1 });
    await expect(past.query(`DELETE FROM entry`)).rejects.toMatchObject({ code: 'sql-read-only' });
    await expect(past.query('SELECT * FROM tag')).rejects.toMatchObject({
      code: 'history-not-kept',
      fields: { table: 'tag' },
    });
    await expect(past.query('SELECT * FROM nothing')).rejects.toMatchObject({ code: 'query-invalid' });
    expect(await rowsOf(past)).toEqual([{ id: 'x', amount: 1 }]);
    await past.close();
    await past.close();
    await expect(rowsOf(past)).rejects.toMatchObject({ code: 'client-closed' });
  });

  it('rejects invalid moments and moments that are not kept', async () => {
    const client = await open();
    await expect(client.past({ time: world.nowMs })).rejects.toMatchObject({
      code: 'history-moment-gone',
      fields: { reason: 'before-start', earliestMs: null },
    });
    for (const moment of [{ time: Number.NaN }, { time: -5 }, { version: 0 }, { version: 1.5 }])
      await expect(client.past(moment)).rejects.toMatchObject({ code: 'request-invalid' });
    await expect(client.past({ version: 7 })).rejects.toMatchObject({ code: 'request-invalid' });
  });

  it('rejects roles below historyRole', async () => {
    await write(await open(), `INSERT INTO entry (id, amount) VALUES ('x', 1)`);
    const viewer = await open('viewer');
    await expect(viewer.past({ version: 1 })).rejects.toMatchObject({ code: 'auth-forbidden' });
  });

  it('rejects a client without a server', async () => {
    const client = await createDevice().createClient({ name: 'local', schema });
    world.closesLater(client);
    await expect(client.past({ version: 1 })).rejects.toMatchObject({ code: 'config-invalid' });
  });
});
