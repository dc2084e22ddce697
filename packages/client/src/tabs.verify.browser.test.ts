import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import { afterEach, describe, expect, it } from 'vitest';
import type { Client } from './client.ts';
import { createClient, newId, sql, type LiveQuery } from './index.ts';
import { defineSchema } from './schema/index.ts';
import { freshName, openTab, until, type BrowserTab } from '../testing/browser-tabs.ts';
import { insert200 } from '../testing/insert-200.ts';

// Behaviour of several tabs that the client's contract shows too, with other steps.

const entry = sqliteTable('entry', { id: text().primaryKey(), number: integer().notNull() });
const schema = defineSchema({ entry });

const open: Client[] = [];
const tabs: BrowserTab[] = [];

async function openClient(name: string): Promise<Client> {
  const client = await createClient({ name, schema });
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
});

describe('a follower that writes 200 times', () => {
  it('loses nothing and repeats nothing when the leader closes halfway', async () => {
    const name = freshName();
    const leader = await openClient(name);
    const follower = await openClient(name);
    await insert200(
      (number) => insert(follower, number),
      () => leader.close(),
    );
    expect(await numbersIn(follower)).toEqual(upTo(200));
    await until(() => follower.status.current.role === 'leader');
  });

  it('loses nothing and repeats nothing when the tab of the leader is killed halfway', async () => {
    const name = freshName();
    const leader = await openOtherTab(name);
    const follower = await openClient(name);
    const third = await openClient(name);
    await insert200(
      (number) => insert(follower, number),
      () => leader.kill(),
    );
    expect(await numbersIn(follower)).toEqual(upTo(200));
    expect(await numbersIn(third)).toEqual(upTo(200));
    await insert(third, 200);
    expect(await numbersIn(follower)).toEqual(upTo(201));
  });
});
