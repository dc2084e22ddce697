import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import { afterEach, describe, expect, expectTypeOf, it, vi } from 'vitest';
import type { Client } from './client.ts';
import type { ClientOptions } from './interface/client-options.ts';
import type { Transaction } from './interface/writes.ts';
import type { StatementResult } from './rpc/sql-statement.ts';
import { createClient, sql } from './index.ts';
import { defineSchema } from './schema/index.ts';
import { freshName, openTab, until, type BrowserTab } from '../testing/browser-tabs.ts';

const account = sqliteTable('account', { id: text().primaryKey(), balance: integer().notNull() });
const schema = defineSchema({ account });

const open: Client[] = [];
const tabs: BrowserTab[] = [];

async function openClient(name: string, options: Partial<ClientOptions> = {}): Promise<Client> {
  const client = await createClient({ name, schema, ...options });
  open.push(client);
  return client;
}

afterEach(async () => {
  vi.useRealTimers();
  await Promise.all(open.splice(0).map((client) => client.close()));
  for (const tab of tabs.splice(0)) tab.kill();
});

const insert = (where: Pick<Transaction, 'execute'>, id: string, balance = 0): Promise<unknown> =>
  where.execute(sql`INSERT INTO account VALUES (${id}, ${balance})`);
const idsIn = async (where: Client | Transaction): Promise<string[]> =>
  (await where.query<{ id: string }>('SELECT id FROM account ORDER BY id')).map(({ id }) => id);

/** The client that runs the transactions, and a second tab. */
async function pair(role: 'leader' | 'follower'): Promise<{ client: Client; other: Client }> {
  const name = freshName();
  const first = await openClient(name);
  const second = await openClient(name);
  return role === 'leader' ? { client: first, other: second } : { client: second, other: first };
}

describe('a transaction', () => {
  it('rejects use after its end with transaction-ended', async () => {
    const client = await openClient(freshName(), { persistence: 'memory' });
    let kept: Transaction | undefined;
    let keptNested: Transaction | undefined;
    await client.transaction(async (tx) => {
      kept = tx;
      await tx.transaction(async (inner) => void (keptNested = inner));
      await expect(keptNested?.query('SELECT 1')).rejects.toMatchObject({ code: 'transaction-ended' });
    });
    await expect(kept?.execute(sql`DELETE FROM account`)).rejects.toMatchObject({ code: 'transaction-ended' });
    await expect(kept?.transaction(() => 1)).rejects.toMatchObject({ code: 'transaction-ended' });
  });

  it('rejects statements of the outer transaction while a nested one is open', async () => {
    const client = await openClient(freshName(), { persistence: 'memory' });
    await client.transaction(async (tx) => {
      await tx.transaction(async () => {
        await expect(insert(tx, 'a')).rejects.toMatchObject({
          code: 'sql-forbidden',
          fields: { problem: 'a nested transaction is open; use it, or wait for its end' },
        });
      });
    });
  });

  it('includes statements that were not awaited, and fails with their failures', async () => {
    const client = await openClient(freshName(), { persistence: 'memory' });
    await client.transaction((tx) => void insert(tx, 'a'));
    expect(await idsIn(client)).toEqual(['a']);
    const failing = client.transaction((tx) => {
      insert(tx, 'b').catch(() => undefined);
      insert(tx, 'a').catch(() => undefined);
    });
    await expect(failing).rejects.toMatchObject({ code: 'constraint-primary-key' });
    expect(await idsIn(client)).toEqual(['a']);
  });

  it('rejects a timeout that would starve other tabs', async () => {
    const client = await openClient(freshName(), { persistence: 'memory' });
    await expect(client.transaction(() => 1, { timeoutMs: 60_000 })).rejects.toMatchObject({ code: 'config-invalid' });
  });

  it('ends with the client', async () => {
    const client = await createClient({ name: freshName(), schema });
    const running = client.transaction(async (tx) => {
      await insert(tx, 'a');
      await client.close();
      await insert(tx, 'b');
    });
    await expect(running).rejects.toMatchObject({ code: 'client-closed' });
  });

  it('rejects with transaction-lost when its leader dies, and can be run again', async () => {
    const name = freshName();
    const leader = await openTab({ name, schema });
    tabs.push(leader);
    const follower = await openClient(name);
    // On a busy machine, the follower may lead only after the time limit of a transaction.
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const transfer = async (tx: Transaction): Promise<void> => {
      await insert(tx, 'a');
      if (follower.status.current.role === 'follower') {
        leader.kill();
        await expect.poll(() => follower.status.current.role).toBe('leader');
      }
      await insert(tx, 'b');
    };
    await expect(follower.transaction(transfer)).rejects.toMatchObject({ code: 'transaction-lost', recovery: 'retry' });
    expect(await idsIn(follower)).toEqual([]);
    await follower.transaction(transfer);
    expect(await idsIn(follower)).toEqual(['a', 'b']);
  });

  it('leaves nothing when its tab is killed, and does not block other tabs', async () => {
    const name = freshName();
    const leader = await openClient(name);
    const follower = await openTab({ name, schema });
    tabs.push(follower);
    const begun = Promise.withResolvers<void>();
    void follower.client.transaction(async (tx) => {
      await insert(tx, 'a');
      begun.resolve();
      await new Promise(() => undefined);
    });
    await begun.promise;
    follower.kill();
    await insert(leader, 'b');
    expect(await idsIn(leader)).toEqual(['b']);
  });

  it('emits to live queries once, at its commit', async () => {
    const { client, other } = await pair('leader');
    const seen: string[][] = [];
    for (const one of [client, other])
      one
        .live<{ id: string }>('SELECT id FROM account ORDER BY id')
        .subscribe(({ rows }) => seen.push(rows.map(({ id }) => id)));
    await until(() => seen.length === 2);
    await client.transaction(async (tx) => {
      await insert(tx, 'a');
      await insert(tx, 'b');
    });
    await until(() => seen.length === 4);
    expect(seen).toEqual([[], [], ['a', 'b'], ['a', 'b']]);
  });
});

describe('undo', () => {
  it.each(['leader', 'follower'] as const)('undoes and redoes a write of the %s', async (role) => {
    const { client, other } = await pair(role);
    await insert(client, 'a');
    await client.transaction(async (tx) => {
      await insert(tx, 'b');
      await tx.execute(sql`DELETE FROM account WHERE id = 'a'`);
    });
    await insert(other, 'c');
    expect(await client.undo()).toBe(true);
    expect(await idsIn(other)).toEqual(['a', 'c']);
    expect(await client.redo()).toBe(true);
    expect(await idsIn(client)).toEqual(['b', 'c']);
    expect(await client.redo()).toBe(false);
    await other.execute(sql`UPDATE account SET balance = 5 WHERE id = 'b'`);
    await expect(client.undo()).rejects.toMatchObject({
      code: 'undo-refused',
      fields: { problem: 'changed', table: 'account' },
    });
  });
});

describe('RETURNING', () => {
  it.each(['leader', 'follower'] as const)('returns its rows to the %s', async (role) => {
    const { client } = await pair(role);
    const result = await client.execute<{ id: string }>(
      sql`INSERT INTO account VALUES ('a', 1), ('b', 2) RETURNING id`,
    );
    expectTypeOf(result).toEqualTypeOf<StatementResult<{ id: string }>>();
    expect(result).toEqual({ changes: 2, rows: [{ id: 'a' }, { id: 'b' }] });
    const [deleted, none] = await client.batch([
      sql`DELETE FROM account WHERE id = 'a' RETURNING balance`,
      sql`DELETE FROM account`,
    ]);
    expect(deleted).toEqual({ changes: 1, rows: [{ balance: 1 }] });
    expect(none).toEqual({ changes: 1, rows: [] });
  });
});
