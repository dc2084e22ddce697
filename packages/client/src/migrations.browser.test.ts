import { encodeSchema } from '@rockpool/shared';
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import { afterEach, describe, expect, it } from 'vitest';
import { commands } from 'vitest/browser';
import { atLevel } from '../../../tests/kit/level.ts';
import type { Client } from './client.ts';
import type { ClientOptions, DrizzleMigrations } from './interface/client-options.ts';
import { createClient, sql } from './index.ts';
import { defineSchema } from './schema/index.ts';
import { freshName, until } from '../testing/browser-tabs.ts';

const journal = (...tags: string[]): DrizzleMigrations['journal'] => ({
  entries: tags.map((tag, idx) => ({ idx, tag })),
});
const m0000 = 'CREATE TABLE `todo` (\n\t`id` text PRIMARY KEY NOT NULL,\n\t`title` text NOT NULL\n);\n';
const m0001 =
  'ALTER TABLE `todo` ADD `rank` integer DEFAULT 7 NOT NULL;--> statement-breakpoint\nCREATE INDEX `todo_rank` ON `todo` (`rank`);';

const older = {
  schema: defineSchema({ todo: sqliteTable('todo', { id: text().primaryKey(), title: text().notNull() }) }),
  migrations: { journal: journal('0000_first'), migrations: { m0000 } },
};
const newer = {
  schema: defineSchema({
    todo: sqliteTable('todo', {
      id: text().primaryKey(),
      title: text().notNull(),
      rank: integer().notNull().default(7),
    }),
  }),
  // The files are named by their path, as a bundler names them.
  migrations: {
    journal: journal('0000_first', '0001_rank'),
    migrations: { './drizzle/0000_first.sql': m0000, './drizzle/0001_rank.sql': m0001 },
  },
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

describe('migrations of drizzle-kit', () => {
  it('run when the app is updated, and mark tabs of the older bundle as outdated', async () => {
    const name = freshName();
    const old = await openClient({ name, ...older });
    await old.execute(sql`INSERT INTO todo VALUES ('a', 'milk')`);
    const updated = await openClient({ name, ...newer });
    expect(await updated.query('SELECT * FROM todo')).toEqual([{ id: 'a', title: 'milk', rank: 7 }]);
    await until(() => old.status.current.state === 'outdated');
    expect(old.status.current).toMatchObject({ role: 'none', reason: { code: 'tab-outdated', recovery: 'upgrade' } });
    await expect(openClient({ name, ...older })).rejects.toMatchObject({ code: 'tab-outdated', recovery: 'upgrade' });
  });

  it('let an older bundle open once the newer tabs are closed', async () => {
    const name = freshName();
    const updated = await openClient({ name, ...newer });
    await updated.execute(sql`INSERT INTO todo VALUES ('a', 'milk', 3)`);
    await updated.close();
    const tabs = [await openClient({ name, ...older }), await openClient({ name, ...older })];
    for (const [index, tab] of tabs.entries()) {
      expect(tab.status.current.readOnly).toBeNull();
      await tab.execute(sql`INSERT INTO todo (id, title) VALUES (${`t${index}`}, 'bread')`);
      await tab.execute(sql`UPDATE todo SET title = ${`milk ${index}`} WHERE id = 'a'`);
    }
    for (const tab of tabs) await tab.close();
    const again = await openClient({ name, ...newer });
    expect(await again.query('SELECT * FROM todo ORDER BY id')).toEqual([
      { id: 'a', title: 'milk 1', rank: 3 },
      { id: 't0', title: 'bread', rank: 7 },
      { id: 't1', title: 'bread', rank: 7 },
    ]);
  });

  it('make an older bundle read-only in every tab if they removed something, with the reason in the status', async () => {
    const name = freshName();
    const first = await openClient({ name, ...newer });
    await first.execute(sql`INSERT INTO todo VALUES ('a', 'milk', 3)`);
    await first.close();
    const m0002 = 'DROP INDEX `todo_rank`;--> statement-breakpoint\nALTER TABLE `todo` DROP COLUMN `rank`;';
    const newest = {
      schema: older.schema,
      migrations: { journal: journal('0000_first', '0001_rank', '0002_no_rank'), migrations: { m0000, m0001, m0002 } },
    };
    const waiting = [await openClient({ name, ...newest }), await openClient({ name, ...newest })];
    for (const tab of waiting) {
      await until(() => tab.status.current.readOnly !== null);
      expect(tab.status.current.readOnly).toMatchObject({ code: 'migration-refused', fields: { column: 'rank' } });
      expect(await tab.query('SELECT title FROM todo')).toEqual([{ title: 'milk' }]);
      await expect(tab.execute(sql`DELETE FROM todo`)).rejects.toMatchObject({ code: 'migration-refused' });
    }
    const empty = freshName();
    for (const bundle of [newer, newest]) await (await openClient({ name: empty, ...bundle })).close();
    const tabs = [await openClient({ name: empty, ...newer }), await openClient({ name: empty, ...newer })];
    for (const tab of tabs) {
      await until(() => tab.status.current.readOnly !== null);
      expect(tab.status.current.readOnly).toMatchObject({
        code: 'app-outdated',
        recovery: 'upgrade',
        fields: { table: 'todo', column: 'rank' },
      });
      expect(await tab.query('SELECT id, title FROM todo')).toEqual([]);
      await expect(tab.execute(sql`INSERT INTO todo (id, title) VALUES ('b', 'x')`)).rejects.toMatchObject({
        code: 'app-outdated',
      });
      await expect(tab.transaction(async (tx) => tx.execute(sql`DELETE FROM todo`))).rejects.toMatchObject({
        code: 'app-outdated',
      });
    }
  });

  it.each(atLevel({ test: ['opfs'], verify: ['opfs', 'opfs-exclusive', 'indexeddb'] } as const))(
    'have run in a database that a first sync created (%s)',
    async (persistence) => {
      const databaseId = freshName();
      const { url, token } = await commands.accessToSyncServer(
        encodeSchema(newer.schema),
        databaseId,
        location.origin,
        'ann',
      );
      const m0002 = 'CREATE VIEW `first_todo` AS SELECT * FROM `todo` ORDER BY `rank` LIMIT 1;';
      const bundle = {
        schema: newer.schema,
        migrations: { journal: journal('0000_first', '0001_rank', '0002_view'), migrations: { m0000, m0001, m0002 } },
      };
      const received: number[] = [];
      const device = (): Promise<Client> =>
        openClient({
          name: freshName(),
          persistence,
          ...bundle,
          sync: {
            url,
            databaseId,
            token: () => token,
            firstSync: { answerWithinMs: 60_000, onProgress: ({ receivedBytes }) => received.push(receivedBytes) },
          },
        });
      const first = await device();
      await first.execute(sql`INSERT INTO todo VALUES ('a', 'milk', 3), ('b', 'bread', 2)`).synced;
      received.length = 0;
      const second = await device();
      expect(received.length).toBeGreaterThan(0);
      const firstTodo = async (client: Client): Promise<unknown> =>
        (await client.query('SELECT id FROM first_todo'))[0]?.['id'];
      // The server keeps a snapshot for a while, and sends what came after it.
      await until(async () => (await firstTodo(second)) === 'b');
      await second.execute(sql`UPDATE todo SET rank = 4 WHERE id = 'b'`).synced;
      await until(async () => (await firstTodo(first)) === 'a');
    },
  );

  it('run once if several tabs open at once', async () => {
    const name = freshName();
    const clients = await Promise.all([1, 2, 3].map(() => openClient({ name, ...newer })));
    await clients[2]?.execute(sql`INSERT INTO todo (id, title) VALUES ('a', 'milk')`);
    for (const client of clients) expect(await client.query('SELECT rank FROM todo')).toEqual([{ rank: 7 }]);
  });

  it('are named if they fail, and leave the data unchanged', async () => {
    const name = freshName();
    const old = await openClient({ name, ...older });
    await old.execute(sql`INSERT INTO todo VALUES ('a', 'milk')`);
    await old.close();
    const broken = {
      journal: journal('0000_first', '0001_rank'),
      migrations: { m0000, m0001: 'ALTER TABLE nothing ADD x' },
    };
    await expect(openClient({ name, schema: newer.schema, migrations: broken })).rejects.toMatchObject({
      code: 'migration-failed',
      fields: { migration: '0001_rank' },
    });
    const again = await openClient({ name, ...older });
    expect(await again.query('SELECT title FROM todo')).toEqual([{ title: 'milk' }]);
  });

  it('are checked for missing SQL before the database opens', async () => {
    const incomplete = { journal: journal('0000_first', '0001_rank'), migrations: { m0000 } };
    await expect(openClient({ name: freshName(), schema: newer.schema, migrations: incomplete })).rejects.toMatchObject(
      { code: 'config-invalid' },
    );
  });
});
