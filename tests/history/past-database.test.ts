import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from '#client/index.ts';
import { defineSchema } from '#client/schema/index.ts';
import { ClientsOfServer, shows } from '#kit/clients-of-server.ts';
import { temporaryFolder } from '#kit/temporary-folder.ts';
import { run } from '#sync-server/cli.ts';
import { integer, sqliteTable, text } from '../../packages/client/node_modules/drizzle-orm/sqlite-core/index.js';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';

const account = sqliteTable('account', { id: text().primaryKey(), name: text().notNull().unique() });
const entry = sqliteTable('entry', {
  id: text().primaryKey(),
  accountId: text('account_id').references(() => account.id, { onDelete: 'cascade' }),
  amount: integer().notNull(),
  details: text(),
});
const documents = { merge: [{ table: entry, documents: [entry.details] }] };
const schema = defineSchema({ account, entry }, { history: [account, entry], ...documents });

const TOKEN = 'an-admin-token-of-this-test-long-enough';

let folder: string;
const world = new ClientsOfServer({ schema, admin: { token: TOKEN } });
beforeEach(() => {
  folder = temporaryFolder();
  world.nowMs = Date.parse('2026-03-01T12:00:00Z');
});
afterEach(() => world.stop());

const start = (served = schema): Promise<void> => world.start({ dataDir: join(folder, 'data'), schema: served });
const open = (databaseId: string, served = schema): Promise<Client> =>
  world.open({ databaseId, name: databaseId, schema: served });

async function command(...args: readonly string[]): Promise<{ code: number; output: string }> {
  let output = '';
  const spies = (['stdout', 'stderr'] as const).map((stream) =>
    vi.spyOn(process[stream], 'write').mockImplementation((written) => ((output += String(written)), true)),
  );
  const code = await run([...args, '--data', join(folder, 'data')]);
  for (const spy of spies) spy.mockRestore();
  return { code, output };
}

const showsTotal = (client: Client, total: number): Promise<void> =>
  shows(client, 'SELECT sum(amount) FROM entry', total);

it('a running server exports a past moment as a new database, which devices use like any other', async () => {
  await start();
  const client = await open('budget');
  await client.execute(`INSERT INTO account VALUES ('a', 'Cash')`);
  await client.execute(`INSERT INTO entry VALUES ('x', 'a', 1, '{"tags":["one"]}'), ('y', 'a', 2, NULL)`);
  await client.execute(`UPDATE entry SET amount = 10 WHERE id = 'x'`).synced;
  world.nowMs += 3_600_000;
  await client.execute(`UPDATE entry SET details = '{"tags":["two"]}' WHERE id = 'x'`).synced;
  await client.execute(`DELETE FROM account`).synced;
  const file = join(folder, 'march.sqlite');
  const exported = await command('databases', 'export', 'budget', file, '--at', '2026-03-01T12:30Z');
  expect(exported).toMatchObject({ code: 0 });
  expect(exported.output).toContain('up to 2026-03-01T12:00:00.000Z');
  expect(readdirSync(folder).sort()).toEqual(['data', 'march.sqlite']);
  expect(await client.query('SELECT count(*) AS n FROM entry')).toEqual([{ n: 0 }]);
  await world.stop();
  expect(await command('databases', 'import', 'march', file)).toMatchObject({ code: 0 });
  expect(await command('doctor')).toMatchObject({ code: 0 });
  await start();
  const [one, two] = [await open('march'), await open('march')];
  await Promise.all([showsTotal(one, 12), showsTotal(two, 12)]);
  expect(
    await two.query(
      'SELECT e.id, name, amount, details FROM entry e JOIN account a ON a.id = account_id ORDER BY e.id',
    ),
  ).toEqual([
    { id: 'x', name: 'Cash', amount: 10, details: '{"tags":["one"]}' },
    { id: 'y', name: 'Cash', amount: 2, details: null },
  ]);
  await Promise.all([
    one.execute(`UPDATE entry SET details = '{"tags":["one","of one"]}' WHERE id = 'x'`).synced,
    two.execute(`UPDATE entry SET details = '{"tags":["of two","one"]}', amount = 11 WHERE id = 'x'`).synced,
  ]);
  await Promise.all([showsTotal(one, 13), showsTotal(two, 13)]);
  const tags = `SELECT json_array_length(details, '$.tags') AS tags FROM entry WHERE id = 'x'`;
  for (const device of [one, two]) {
    for await (const { rows } of device.live(tags)) if (rows[0]?.['tags'] === 3) break;
  }
  // A device of the database in use does not mistake the new database for its own.
  expect(await (await open('budget')).query('SELECT count(*) AS n FROM account')).toEqual([{ n: 0 }]);
});

it('one request restores a past moment under a new id while the original database is in use', async () => {
  await start();
  const client = await open('budget');
  await client.execute(`INSERT INTO account VALUES ('a', 'Cash')`);
  await client.execute(`INSERT INTO entry VALUES ('x', 'a', 1, '{"tags":["one"]}')`).synced;
  world.nowMs += 3_600_000;
  await client.execute(`UPDATE entry SET amount = 7`).synced;
  const restore = async (id: string, query: string): Promise<{ readonly status: number; readonly body: unknown }> => {
    const response = await world.server.admin?.request(`/api/databases/${id}/restore?${query}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${TOKEN}` },
    });
    return { status: response?.status ?? 0, body: await response?.json() };
  };
  const [restored] = await Promise.all([
    restore('march', 'from=budget&at=2026-03-01T12:30Z'),
    client.execute(`UPDATE entry SET amount = 8`).synced,
  ]);
  expect(restored).toMatchObject({ status: 201, body: { receivedMs: world.nowMs - 3_600_000 } });
  await showsTotal(await open('march'), 1);
  expect(await client.query('SELECT amount FROM entry')).toEqual([{ amount: 8 }]);
  expect(readdirSync(join(folder, 'data', 'databases')).filter((name) => /incoming|unfinished/.test(name))).toEqual([]);
  const refused: readonly (readonly [string, string, number, object])[] = [
    ['march', 'from=budget&at=2026-03-02', 409, { fields: { problem: 'a database with this id already exists' } }],
    ['other', 'from=none&at=2026-03-02', 404, { code: 'storage-missing' }],
    ['other', 'from=budget&at=yesterday', 400, { code: 'request-invalid' }],
    ['other', 'from=../budget&at=2026-03-02', 400, { code: 'request-invalid' }],
    ['other', 'from=budget&at=2026-02-01', 410, { code: 'history-moment-gone' }],
  ];
  for (const [id, query, status, body] of refused) expect(await restore(id, query)).toMatchObject({ status, body });
  expect(await restore('april', `from=budget&at=${world.nowMs}`)).toMatchObject({ status: 201 });
});

it('an export of a past moment writes nothing if a table has no history, the moment is not kept, or the time is invalid', async () => {
  const partial = defineSchema({ account, entry }, { history: [account], ...documents });
  await start(partial);
  const client = await open('budget', partial);
  await client.execute(`INSERT INTO account VALUES ('a', 'Cash')`).synced;
  const file = join(folder, 'march.sqlite');
  const refusal = async (time: string): Promise<string> => {
    const { code, output } = await command('databases', 'export', 'budget', file, '--at', time);
    expect(code).toBe(1);
    return output;
  };
  expect(await refusal('2026-03-02')).toContain('table=entry');
  expect(await refusal('yesterday')).toContain('--at takes a time');
  expect(await command('databases', 'list', '--at', '2026-03-02')).toMatchObject({ code: 1 });
  await world.stop();
  await start();
  // The schema of the file changes when the server opens it.
  await (await open('budget')).execute(`INSERT INTO account VALUES ('b', 'Bank')`).synced;
  expect(await refusal('2026-02-01')).toContain('reason=before-start');
  expect(existsSync(file)).toBe(false);
  expect(readdirSync(folder)).toEqual(['data']);
});
