import { integer, real, blob, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import { afterEach, describe, expect, it } from 'vitest';
import type { Client } from './client.ts';
import type { ClientOptions } from './interface/client-options.ts';
import type { LiveState } from './interface/live-query.ts';
import { createClient, newId, RockpoolError, sql, type ErrorCode } from './index.ts';
import { defineSchema } from './schema/index.ts';
import { freshName, until } from '../testing/browser-tabs.ts';

const todo = sqliteTable('todo', {
  id: text().primaryKey(),
  title: text().notNull(),
  done: integer({ mode: 'boolean' }).notNull().default(false),
  weight: real(),
  bytes: blob(),
});
const note = sqliteTable('note', { id: text().primaryKey(), body: text().notNull().unique() });
const schema = defineSchema({ todo, note });

const open: Client[] = [];

async function openClient(name: string, options: Partial<ClientOptions> = {}): Promise<Client> {
  const client = await createClient({ name, schema, ...options });
  open.push(client);
  return client;
}

afterEach(async () => {
  await Promise.all(open.splice(0).map((client) => client.close()));
});

async function failureOf(promise: Promise<unknown>): Promise<RockpoolError> {
  const thrown = await promise.then(
    () => null,
    (error: unknown) => error,
  );
  expect(thrown).toBeInstanceOf(RockpoolError);
  return thrown as RockpoolError;
}
const codeOf = async (promise: Promise<unknown>): Promise<ErrorCode> => (await failureOf(promise)).code;

describe('a client', () => {
  it('writes and reads rows of every type', async () => {
    const client = await openClient(freshName());
    const id = newId();
    const result = await client.execute(
      sql`INSERT INTO todo (id, title, weight, bytes) VALUES (${id}, ${'milk 🥛'}, ${1.5}, ${new Uint8Array([1, 2])})`,
    );
    expect(result).toEqual({ changes: 1, rows: [] });
    expect(await client.query('SELECT * FROM todo')).toEqual([
      { id, title: 'milk 🥛', done: 0, weight: 1.5, bytes: new Uint8Array([1, 2]) },
    ]);
    expect(await client.query<{ n: number }>('SELECT count(*) AS n FROM todo WHERE title = ?', ['milk 🥛'])).toEqual([
      { n: 1 },
    ]);
  });

  it('runs atomic batches, and rejects calls that name an unknown changeset or conflict, with a code', async () => {
    const client = await openClient(freshName());
    expect(await client.batch([sql`INSERT INTO note (id, body) VALUES ('a', 'x')`], { atomic: true })).toEqual([
      { changes: 1, rows: [] },
    ]);
    expect(await client.rejected.list()).toEqual([]);
    expect(await codeOf(client.rejected.retry(1))).toBe('changeset-not-rejected');
    expect(await codeOf(client.rejected.drop(1))).toBe('changeset-not-rejected');
    expect((await failureOf(client.conflicts.restore('none'))).fields).toEqual({ problem: 'unknown' });
  });

  it('keeps its rows when it is reopened', async () => {
    const name = freshName();
    const first = await openClient(name);
    await first.execute(sql`INSERT INTO note (id, body) VALUES ('a', 'kept')`);
    await first.close();
    const second = await openClient(name);
    expect(await second.query('SELECT body FROM note')).toEqual([{ body: 'kept' }]);
  });

  it('runs a batch as one transaction, whole or not at all', async () => {
    const client = await openClient(freshName());
    expect(
      await client.batch([
        sql`INSERT INTO note VALUES ('a', 'one'), ('b', 'two')`,
        sql`UPDATE note SET body = body || '!'`,
      ]),
    ).toMatchObject([{ changes: 2 }, { changes: 2 }]);
    const failure = await failureOf(
      client.batch([sql`INSERT INTO note VALUES ('c', 'three')`, sql`INSERT INTO note VALUES ('d', ${'one!'})`]),
    );
    expect(failure.code).toBe('constraint-unique');
    expect(failure.recovery).toBe('ask-user');
    expect(await client.query('SELECT count(*) AS n FROM note')).toEqual([{ n: 2 }]);
  });

  it('rejects with errors whose codes survive the transfer from the worker, and which contain no value', async () => {
    const client = await openClient(freshName());
    expect(await codeOf(client.query('SELEC 1'))).toBe('query-invalid');
    expect(await codeOf(client.query(`DELETE FROM note`))).toBe('sql-read-only');
    expect(await codeOf(client.execute('INSERT INTO note VALUES (?, ?)', [newId(), null]))).toBe('constraint-not-null');
    const secret = await failureOf(
      client.execute('INSERT INTO note VALUES (?, ?)', ['secret-4711', undefined as unknown as null]),
    );
    expect(secret.code).toBe('value-invalid');
    expect(JSON.stringify([secret.message, secret.fields])).not.toContain('4711');
  });

  it('rejects invalid options with all problems at once', async () => {
    const failure = await failureOf(
      createClient({
        name: 'a/b',
        schema: {} as typeof schema,
        sync: { url: '/here', databaseId: 'my list', token: () => '' },
      }),
    );
    expect(failure.code).toBe('config-invalid');
    expect(failure.fields['count']).toBe(4);
  });

  it('rejects every call once it is closed, and can be closed twice', async () => {
    const client = await openClient(freshName());
    await Promise.all([client.close(), client.close()]);
    expect(await codeOf(client.query('SELECT 1'))).toBe('client-closed');
    expect(await codeOf(client.execute('DELETE FROM note'))).toBe('client-closed');
  });

  it('leaves no lock behind', async () => {
    const name = freshName();
    const client = await openClient(name);
    const heldLocks = async (): Promise<string[]> =>
      ((await navigator.locks.query()).held ?? []).map((lock) => lock.name ?? '').filter((lock) => lock.includes(name));
    expect(await heldLocks()).not.toEqual([]);
    await client.close();
    // Browsers release locks asynchronously.
    await until(async () => (await heldLocks()).length === 0);
  });

  it('reports that it is in memory, keeps nothing and shares nothing', async () => {
    const name = freshName();
    const [one, other] = await Promise.all([
      openClient(name, { persistence: 'memory' }),
      openClient(name, { persistence: 'memory' }),
    ]);
    await one.execute(sql`INSERT INTO note VALUES ('a', 'mine')`);
    expect(await other.query('SELECT * FROM note')).toEqual([]);
    expect(one.status.current).toMatchObject({ persistence: 'memory', role: 'leader' });
  });

  it('keeps its rows in memory while its page is suspended', async () => {
    const client = await openClient(freshName(), { persistence: 'memory' });
    await client.execute(sql`INSERT INTO note VALUES ('a', 'kept')`);
    window.dispatchEvent(new PageTransitionEvent('pagehide', { persisted: true }));
    const asked = client.query('SELECT body FROM note');
    window.dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }));
    expect(await asked).toEqual([{ body: 'kept' }]);
  });

  it('is offline without a reason if sync is not configured', async () => {
    const client = await openClient(freshName());
    await until(() => client.status.current.state !== 'opening');
    expect(client.status.current).toEqual({
      state: 'offline',
      pendingCount: 0,
      rejectedCount: 0,
      sentUpTo: null,
      reason: null,
      readOnly: null,
      userMayWrite: null,
      waitingFor: null,
      stuck: null,
      snapshot: null,
      lastContactMs: null,
      persistence: 'opfs',
      role: 'leader',
      clockOffsetMs: null,
      clockWrong: false,
    });
  });
});

describe('a live query', () => {
  it('emits its rows after its first run and after every change, and immediately to a late listener', async () => {
    const client = await openClient(freshName());
    const live = client.live<{ body: string }>('SELECT body FROM note ORDER BY body');
    const states: LiveState<{ body: string }>[] = [];
    const unsubscribe = live.subscribe((state) => states.push(state));
    await until(() => !live.current.loading);
    await client.execute(sql`INSERT INTO note VALUES ('a', 'one')`);
    await until(() => live.current.rows.length === 1);
    let late: LiveState<{ body: string }> | null = null;
    const unsubscribeLate = client
      .live<{ body: string }>('SELECT body FROM note ORDER BY body')
      .subscribe((state) => (late = state));
    expect(late).toBe(live.current);
    expect(states.map(({ rows }) => rows.length)).toEqual([0, 1]);
    unsubscribe();
    unsubscribeLate();
  });

  it('keeps the objects of unchanged rows', async () => {
    const client = await openClient(freshName());
    await client.execute(sql`INSERT INTO note VALUES ('a', 'one'), ('b', 'two')`);
    const live = client.live('SELECT * FROM note ORDER BY id');
    const unsubscribe = live.subscribe(() => undefined);
    await until(() => live.current.rows.length === 2);
    const [first] = live.current.rows;
    await client.execute(sql`UPDATE note SET body = 'changed' WHERE id = 'b'`);
    await until(() => live.current.rows[1]?.['body'] === 'changed');
    expect(live.current.rows[0]).toBe(first);
    unsubscribe();
  });

  it('reports an error as a value', async () => {
    const client = await openClient(freshName());
    const live = client.live('SELECT nonsense FROM note');
    const unsubscribe = live.subscribe(() => undefined);
    await until(() => live.current.error !== null);
    expect(live.current.error?.code).toBe('query-invalid');
    expect(live.current.loading).toBe(false);
    unsubscribe();
  });
});
