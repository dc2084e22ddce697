import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newId, sql } from '#client/index.ts';
import { drizzle } from '#client/drizzle/index.ts';
import { createClient, createDevice, inProcess } from '#client/node/index.ts';
import { defineSchema } from '#client/schema/index.ts';
import { createSyncServer } from '#sync-server/index.ts';
import { integer, sqliteTable, text } from '../../packages/client/node_modules/drizzle-orm/sqlite-core/index.js';
import { expect, it, onTestFinished } from 'vitest';

const todo = sqliteTable('todo', {
  id: text().primaryKey(),
  title: text().notNull(),
  done: integer({ mode: 'boolean' }).notNull().default(false),
});
const schema = defineSchema({ todo });

it('a todo that is added on one device appears on another', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'todos-'));
  onTestFinished(() => rmSync(dataDir, { recursive: true }));
  const server = createSyncServer({
    dataDir,
    schema,
    secret: 'a secret of this test, long enough',
  });
  const sync = {
    url: 'ws://in-process',
    transport: inProcess(server),
    databaseId: 'list',
    token: () => server.issueToken({ principal: 'ann', databases: ['list'], ttlMs: 3_600_000 }),
  };

  // Each client has its own device.
  const phone = await createClient({ name: 'todos', schema, sync });
  const laptop = await createClient({ name: 'todos', schema, sync });
  const titles = new Promise((resolve) => {
    laptop
      .live<{ title: string }>('SELECT title FROM todo')
      .subscribe(({ rows }) => rows.length > 0 && resolve(rows.map(({ title }) => title)));
  });
  await phone.execute(sql`INSERT INTO todo (id, title) VALUES (${newId()}, 'milk')`).synced;
  expect(await titles).toEqual(['milk']);
  expect(await drizzle(laptop).select().from(todo)).toMatchObject([{ title: 'milk', done: false }]);
  await Promise.all([phone.close(), laptop.close()]);
  await server.close();
});

it('two tabs of a device share a database, which remains after both close', async () => {
  const device = createDevice();
  const first = await device.createClient({ name: 'todos', schema });
  const second = await device.createClient({ name: 'todos', schema });
  await second.execute(sql`INSERT INTO todo (id, title) VALUES ('a', 'bread')`);
  expect(await first.query('SELECT title FROM todo')).toEqual([{ title: 'bread' }]);
  await Promise.all([first.close(), second.close()]);
  const later = await device.createClient({ name: 'todos', schema });
  expect(await later.query('SELECT title FROM todo')).toEqual([{ title: 'bread' }]);
  await later.close();
});
