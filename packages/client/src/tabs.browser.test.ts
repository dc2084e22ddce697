import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import { afterEach, describe, expect, it } from 'vitest';
import type { Client } from './client.ts';
import type { ClientOptions } from './interface/client-options.ts';
import { createClient, newId, sql, type LiveQuery } from './index.ts';
import { defineSchema } from './schema/index.ts';
import { freshName, openTab, until, type BrowserTab } from '../testing/browser-tabs.ts';
import { BROWSER } from './worker/browser-environment.ts';
import { createHost } from './worker/host.ts';

const entry = sqliteTable('entry', { id: text().primaryKey(), number: integer().notNull() });
const other = sqliteTable('other', { id: text().primaryKey() });
const schema = defineSchema({ entry, other });

const open: Client[] = [];
const tabs: BrowserTab[] = [];

async function openClient(name: string, options: Partial<ClientOptions> = {}): Promise<Client> {
  const client = await createClient({ name, schema, ...options });
  open.push(client);
  return client;
}

async function openOtherTab(name: string): Promise<BrowserTab> {
  const tab = await openTab({ name, schema });
  tabs.push(tab);
  return tab;
}

afterEach(async () => {
  await Promise.all(open.splice(0).map((client) => client.close()));
  for (const tab of tabs.splice(0)) tab.kill();
});

const insert = (client: Client, number: number): Promise<unknown> =>
  client.execute(sql`INSERT INTO entry VALUES (${newId()}, ${number})`);
const numbersIn = async (client: Client): Promise<number[]> =>
  (await client.query<{ number: number }>('SELECT number FROM entry ORDER BY rowid')).map(({ number }) => number);
const upTo = (count: number): number[] => Array.from({ length: count }, (_, index) => index);

function follow(client: Client): { readonly live: LiveQuery<{ number: number }>; readonly numbers: () => number[] } {
  const live = client.live<{ number: number }>('SELECT number FROM entry ORDER BY number');
  live.subscribe(() => undefined);
  return { live, numbers: () => live.current.rows.map(({ number }) => number) };
}

describe('two tabs', () => {
  it('both show the writes of both tabs in their live queries', async () => {
    const name = freshName();
    const leader = await openClient(name);
    const follower = await openClient(name);
    expect([leader.status.current.role, follower.status.current.role]).toEqual(['leader', 'follower']);
    const views = [follow(leader), follow(follower)];
    await insert(follower, 1);
    await insert(leader, 2);
    for (const { numbers } of views) await until(() => numbers().length === 2);
    for (const { numbers } of views) expect(numbers()).toEqual([1, 2]);
  });

  it('read each other’s writes at once', async () => {
    const name = freshName();
    const leader = await openClient(name);
    const follower = await openClient(name);
    for (const number of upTo(20)) {
      await insert(leader, number);
      expect(await numbersIn(follower)).toHaveLength(number + 1);
    }
    await insert(follower, 20);
    expect(await numbersIn(follower)).toEqual(upTo(21));
  });

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

/** Writes with ten requests in flight. After half of the writes, `halfway` runs while writing continues. */
async function insert200(client: Client, halfway: () => Promise<void> | void): Promise<void> {
  let happening: Promise<void> | void = undefined;
  for (let first = 0; first < 200; first += 10) {
    const writes = upTo(10).map((index) => insert(client, first + index));
    if (first === 100) happening = halfway();
    await Promise.all(writes);
  }
  await happening;
}

describe('a follower that writes 200 times', () => {
  it('loses nothing and repeats nothing when the leader closes halfway', async () => {
    const name = freshName();
    const leader = await openClient(name);
    const follower = await openClient(name);
    await insert200(follower, () => leader.close());
    expect(await numbersIn(follower)).toEqual(upTo(200));
    await until(() => follower.status.current.role === 'leader');
  });

  it('loses nothing and repeats nothing when the tab of the leader is killed halfway', async () => {
    const name = freshName();
    const leader = await openOtherTab(name);
    const follower = await openClient(name);
    const third = await openClient(name);
    await insert200(follower, () => leader.kill());
    expect(await numbersIn(follower)).toEqual(upTo(200));
    expect(await numbersIn(third)).toEqual(upTo(200));
    await insert(third, 200);
    expect(await numbersIn(follower)).toEqual(upTo(201));
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
