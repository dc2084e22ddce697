import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import { afterEach, describe, expect, it } from 'vitest';
import type { Client, ClientOptions, DrizzleMigrations } from './client.ts';
import { createClient, sql } from './index.ts';
import { defineSchema } from './schema/index.ts';
import { freshName, until } from './testing/browser-tabs.ts';

const journal = (...tags: string[]): DrizzleMigrations['journal'] => ({ entries: tags.map((tag, idx) => ({ idx, tag })) });
const m0000 = 'CREATE TABLE `todo` (\n\t`id` text PRIMARY KEY NOT NULL,\n\t`title` text NOT NULL\n);\n';
const m0001 = 'ALTER TABLE `todo` ADD `rank` integer DEFAULT 7 NOT NULL;--> statement-breakpoint\nCREATE INDEX `todo_rank` ON `todo` (`rank`);';

const older = {
  schema: defineSchema({ todo: sqliteTable('todo', { id: text().primaryKey(), title: text().notNull() }) }),
  migrations: { journal: journal('0000_first'), migrations: { m0000 } },
};
const newer = {
  schema: defineSchema({ todo: sqliteTable('todo', { id: text().primaryKey(), title: text().notNull(), rank: integer().notNull().default(7) }) }),
  // As a bundler's glob names them.
  migrations: { journal: journal('0000_first', '0001_rank'), migrations: { './drizzle/0000_first.sql': m0000, './drizzle/0001_rank.sql': m0001 } },
};

const open: Client[] = [];
async function openClient(options: Omit<ClientOptions, 'onError'>): Promise<Client> {
  const client = await createClient({ ...options, onError: () => undefined });
  open.push(client);
  return client;
}

afterEach(async () => {
  await Promise.all(open.splice(0).map((client) => client.close()));
});

describe('migrations that drizzle-kit made', () => {
  it('run when the app is updated, and tabs of the older bundle are told to reload', async () => {
    const name = freshName();
    const old = await openClient({ name, ...older });
    await old.execute(sql`INSERT INTO todo VALUES ('a', 'milk')`);
    const updated = await openClient({ name, ...newer });
    expect(await updated.query('SELECT * FROM todo')).toEqual([{ id: 'a', title: 'milk', rank: 7 }]);
    await until(() => old.status.state === 'blocked');
    expect(old.status.reason?.code).toBe('tab-outdated');
    await expect(openClient({ name, ...older })).rejects.toMatchObject({ code: 'tab-outdated', recovery: 'upgrade' });
  });

  it('run once when several tabs open at once', async () => {
    const name = freshName();
    const clients = await Promise.all([1, 2, 3].map(() => openClient({ name, ...newer })));
    await clients[2]?.execute(sql`INSERT INTO todo (id, title) VALUES ('a', 'milk')`);
    for (const client of clients) expect(await client.query('SELECT rank FROM todo')).toEqual([{ rank: 7 }]);
  });

  it('that fail name themselves and leave what was there', async () => {
    const name = freshName();
    const old = await openClient({ name, ...older });
    await old.execute(sql`INSERT INTO todo VALUES ('a', 'milk')`);
    await old.close();
    const broken = { journal: journal('0000_first', '0001_rank'), migrations: { m0000, m0001: 'ALTER TABLE nothing ADD x' } };
    await expect(openClient({ name, schema: newer.schema, migrations: broken })).rejects.toMatchObject({ code: 'migration-failed', fields: { migration: '0001_rank' } });
    const again = await openClient({ name, ...older });
    expect(await again.query('SELECT title FROM todo')).toEqual([{ title: 'milk' }]);
  });

  it('are missed before anything is opened', async () => {
    const incomplete = { journal: journal('0000_first', '0001_rank'), migrations: { m0000 } };
    await expect(openClient({ name: freshName(), schema: newer.schema, migrations: incomplete })).rejects.toMatchObject({ code: 'config-invalid' });
  });
});
