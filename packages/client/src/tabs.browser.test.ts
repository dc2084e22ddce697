import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import { afterEach, describe, expect, it } from 'vitest';
import type { Client } from './client.ts';
import type { ClientOptions } from './interface/client-options.ts';
import { createClient, newId, sql } from './index.ts';
import { defineSchema } from './schema/index.ts';
import { freshName, until } from '../testing/browser-tabs.ts';
import { BROWSER } from './worker/browser-environment.ts';
import { createHost } from './worker/host.ts';

const entry = sqliteTable('entry', { id: text().primaryKey(), number: integer().notNull() });
const other = sqliteTable('other', { id: text().primaryKey() });
const schema = defineSchema({ entry, other });

const open: Client[] = [];

async function openClient(name: string, options: Partial<ClientOptions> = {}): Promise<Client> {
  const client = await createClient({ name, schema, ...options });
  open.push(client);
  return client;
}

afterEach(async () => {
  await Promise.all(open.splice(0).map((client) => client.close()));
});

const insert = (client: Client, number: number): Promise<unknown> =>
  client.execute(sql`INSERT INTO entry VALUES (${newId()}, ${number})`);
const numbersIn = async (client: Client): Promise<number[]> =>
  (await client.query<{ number: number }>('SELECT number FROM entry ORDER BY rowid')).map(({ number }) => number);
const upTo = (count: number): number[] => Array.from({ length: count }, (_, index) => index);

describe('two tabs', () => {
  it('return the errors of a write to the tab that wrote', async () => {
    const name = freshName();
    await openClient(name);
    const follower = await openClient(name);
    const failure = follower.execute(sql`INSERT INTO entry VALUES ('a', ${null})`);
    await expect(failure).rejects.toMatchObject({ code: 'constraint-not-null', recovery: 'ask-user' });
  });

  it('emit nothing for a commit to a table that the query does not read', async () => {
    const name = freshName();
    const leader = await openClient(name);
    const follower = await openClient(name);
    let count = 0;
    follower.live('SELECT * FROM entry').subscribe(() => count++);
    await until(() => count === 1);
    await leader.execute(sql`INSERT INTO other VALUES ('a')`);
    await insert(leader, 1);
    await until(() => count === 2);
    expect(count).toBe(2);
  });
});

describe('a page', () => {
  it('shows the status with its own role', async () => {
    const name = freshName();
    const leader = await openClient(name);
    const follower = await openClient(name);
    const roles: string[] = [];
    follower.status.subscribe(({ role }) => roles.push(role));
    await leader.close();
    await until(() => follower.status.current.role === 'leader');
    expect(roles).toEqual(['follower', 'leader']);
  });
});

it('five tabs can open a fresh database at once', async () => {
  const name = freshName();
  const clients = await Promise.all(upTo(5).map(() => openClient(name)));
  expect(clients.filter(({ status }) => status.current.role === 'leader')).toHaveLength(1);
  await Promise.all(clients.map((client, number) => insert(client, number)));
  for (const client of clients) expect((await numbersIn(client)).sort((a, b) => a - b)).toEqual(upTo(5));
});

it('opening rejects with a code and the missing feature if the browser lacks one that storage needs', async () => {
  // Browsers do not expose these handles outside of workers.
  const opening = createHost(BROWSER).open(
    {
      name: freshName(),
      schema: JSON.stringify({ rockpoolSchema: 1, ...schema }),
      migrations: null,
      sync: null,
      durability: 'relaxed',
      persistence: 'opfs',
    },
    { onEvent: () => undefined, token: async () => '' },
  );
  await expect(opening).rejects.toMatchObject({
    code: 'storage-unsupported',
    fields: { missing: expect.stringContaining('createSyncAccessHandle') as unknown },
  });
});
