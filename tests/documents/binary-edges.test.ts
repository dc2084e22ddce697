import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Client } from '#client/index.ts';
import { drizzle } from '#client/drizzle/index.ts';
import { defineSchema } from '#client/schema/index.ts';
import { ClientsOfServer, shows } from '#kit/clients-of-server.ts';
import { temporaryFolder } from '#kit/temporary-folder.ts';
import { until } from '#kit/until.ts';
import { run } from '#sync-server/cli.ts';
import { sqliteTable, text } from '../../packages/client/node_modules/drizzle-orm/sqlite-core/index.js';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

const page = sqliteTable('page', { id: text().primaryKey(), content: text({ mode: 'json' }).$type<object>() });
const schema = defineSchema(
  { page },
  {
    history: [page],
    merge: [{ table: page, documents: [{ column: page.content, text: ['body'], storage: 'binary' }] }],
  },
);
const CONTENT = { body: 'low tide', n: 1, tags: ['a', 'b'] };
const TEXT = JSON.stringify(CONTENT);

let dataDir: string;
let refused = false;
const world = new ClientsOfServer({ schema, validate: () => (refused ? 'not now' : null) });
beforeEach(async () => {
  refused = false;
  dataDir = join(temporaryFolder(), 'data');
  await world.start({ dataDir });
});
afterEach(() => world.stop());

async function withPage(principal = 'ann'): Promise<Client> {
  const client = await world.open({ principal });
  await client.execute('INSERT INTO page VALUES (?, ?) ON CONFLICT DO NOTHING', ['p', TEXT]).synced;
  // The file itself has JSONB.
  expect(await client.query('SELECT type FROM pragma_table_xinfo(?) WHERE name = ?', ['page', 'content'])).toEqual([
    { type: 'TEXT JSONB' },
  ]);
  return client;
}

describe('a binary document is JSON text', () => {
  it('in queries, live queries, streams, RETURNING and Drizzle', async () => {
    const client = await withPage();
    expect(await client.query('SELECT *, typeof(content) AS kind FROM page')).toEqual([
      { id: 'p', content: TEXT, kind: 'text' },
    ]);
    await shows(client, 'SELECT content FROM page', TEXT);
    for await (const rows of client.stream('SELECT content FROM page')) expect(rows).toEqual([{ content: TEXT }]);
    expect((await client.execute("UPDATE page SET content = content WHERE id = 'p' RETURNING content")).rows).toEqual([
      { content: TEXT },
    ]);
    const database = drizzle(client, { schema: { page } });
    expect(await database.select().from(page)).toEqual([{ id: 'p', content: CONTENT }]);
    expect(await database.query.page.findFirst()).toEqual({ id: 'p', content: CONTENT });
  });

  it('in the conflict log, on every device', async () => {
    const [ann, bob] = [await withPage(), await withPage('bob')];
    await Promise.all([ann.sync.pause(), bob.sync.pause()]);
    await ann.execute(`UPDATE page SET content = json_set(content, '$.n', json('{"by":"ann"}'))`);
    await bob.execute(`UPDATE page SET content = json_set(content, '$.n', json('{"by":"bob"}'))`);
    for (const client of [ann, bob]) {
      await client.sync.resume();
      await client.execute("INSERT INTO page (id) VALUES ('q') ON CONFLICT DO NOTHING").synced;
    }
    await shows(ann, 'SELECT count(*) > 0 FROM rockpool_conflict', 1);
    await shows(bob, 'SELECT count(*) > 0 FROM rockpool_conflict', 1);
    for (const client of [ann, bob]) {
      const [lost] = await client.query<{ lost: string; won: string }>(
        "SELECT lost_value AS lost, won_value AS won FROM rockpool_conflict WHERE column_name = 'content'",
      );
      const values = [lost?.lost, lost?.won].map((value) => JSON.parse(String(value)) as { readonly by: string });
      expect(values.map(({ by }) => by).sort()).toEqual(['ann', 'bob']);
      expect([typeof lost?.lost, typeof lost?.won]).toEqual(['string', 'string']);
    }
  });

  it('in rejected changes, versions and past states', async () => {
    const client = await withPage();
    await client.execute("INSERT INTO page (id) VALUES ('q')").synced;
    refused = true;
    await client.execute(`UPDATE page SET content = '{"n":2}' WHERE id = 'q'`);
    await until(() => client.status.current.rejectedCount === 1);
    expect(JSON.stringify(await client.rejected.list())).toContain('{\\"n\\":2}');
    refused = false;
    const history = await client.history('page', 'p');
    expect(await history.at(1)).toEqual({ id: 'p', content: TEXT });
    const past = await client.past({ version: 1 });
    expect(await past.query('SELECT content, typeof(content) AS kind FROM page')).toEqual([
      { content: TEXT, kind: 'text' },
    ]);
  });

  it('in a backup file, as JSONB that other programs can read', async () => {
    const client = await withPage();
    const file = join(temporaryFolder(), 'backup.sqlite');
    writeFileSync(file, new Uint8Array(await (await client.backup()).arrayBuffer()));
    const backup = new DatabaseSync(file, { readOnly: true });
    try {
      expect(backup.prepare('SELECT json(content) AS content, typeof(content) AS kind FROM page').all()).toEqual([
        { content: TEXT, kind: 'blob' },
      ]);
    } finally {
      backup.close();
    }
    const branch = world.closesLater(await client.branch('copy'));
    await branch.execute(`UPDATE page SET content = json_set(content, '$.n', 2)`);
    expect((await branch.diff())[0]?.changes).toMatchObject([
      { column: 'content', before: TEXT, after: JSON.stringify({ ...CONTENT, n: 2 }) },
    ]);
    await branch.merge();
    await shows(client, "SELECT content ->> 'n' FROM page", 2);
  });

  it('in the files of the server and its exports, which a device reads back', async () => {
    await withPage();
    const file = join(temporaryFolder(), 'export.sqlite');
    vi.spyOn(process.stdout, 'write').mockReturnValue(true);
    expect(await run(['databases', 'export', 'budget', file, '--data', dataDir])).toBe(0);
    vi.restoreAllMocks();
    const exported = new DatabaseSync(file, { readOnly: true });
    try {
      expect(exported.prepare('SELECT content, typeof(content) AS kind FROM page').all()).toEqual([
        { content: TEXT, kind: 'text' },
      ]);
    } finally {
      exported.close();
    }
    const other = await world.open({ principal: 'bob' });
    await shows(other, 'SELECT content FROM page', TEXT);
  });
});
