import { createServer, type Server } from 'node:http';
import {
  createClient as createBrowserClient,
  type Client,
  type RockpoolError,
  type StatementResult,
} from '#client/index.ts';
import { drizzle, type RockpoolDatabase } from '#client/drizzle/index.ts';
import { createClient } from '#client/node/index.ts';
import { defineSchema } from '#client/schema/index.ts';
import { createSyncServer, type SyncServer } from '#sync-server/index.ts';
import { sql } from '../../packages/client/node_modules/drizzle-orm/index.js';
import { sqliteTable, text } from '../../packages/client/node_modules/drizzle-orm/sqlite-core/index.js';
import { afterEach, beforeEach, describe, expect, expectTypeOf, it } from 'vitest';
import { temporaryFolder } from '#kit/temporary-folder.ts';

const todo = sqliteTable('todo', { id: text().primaryKey(), title: text().notNull() });
const schema = defineSchema({ todo });

let dataDir: string;
let server: SyncServer;
let http: Server;
let client: Client;
let db: RockpoolDatabase;

beforeEach(async () => {
  dataDir = temporaryFolder();
  const validate = (_: string, { changes }: { readonly changes: readonly object[] }): string | null =>
    JSON.stringify(changes).includes('never') ? 'never' : null;
  server = createSyncServer({
    dataDir,
    schema,
    secret: 'a secret of this test, long enough',
    validate,
    log: () => undefined,
  });
  http = createServer().listen(0);
  server.attach(http);
  const { port } = http.address() as { port: number };
  client = await createClient({
    name: 'todos',
    schema,
    sync: {
      url: `ws://localhost:${port}/sync`,
      databaseId: 'list',
      token: () => server.issueToken({ principal: 'ann', databases: ['list'], ttlMs: 3_600_000 }),
    },
  });
  db = drizzle(client);
});
afterEach(async () => {
  await client.close();
  await server.close();
  http.close();
});

const rejection = (promise: Promise<void> | undefined): Promise<string | undefined> =>
  Promise.resolve(promise).then(
    () => 'resolved',
    (error: unknown) => (error as RockpoolError).code,
  );

describe('the server outcome of a write through Drizzle', () => {
  it('is available on every result', async () => {
    const written = await db.insert(todo).values({ id: 'a', title: 'milk' });
    expectTypeOf(written.synced).toEqualTypeOf<Promise<void> | undefined>();
    expect(await rejection(written.synced)).toBe('resolved');
    expect(await rejection((await db.update(todo).set({ title: 'bread' }).run()).synced)).toBe('resolved');
    expect(await rejection((await db.run(sql`UPDATE todo SET title = 'tea'`)).synced)).toBe('resolved');
    expect(
      await rejection(
        (
          await db
            .insert(todo)
            .values({ id: 'b', title: sql.placeholder('title') })
            .prepare()
            .run({ title: 'never' })
        ).synced,
      ),
    ).toBe('changeset-refused');
    expect(client.status.current.rejectedCount).toBe(1);
  });

  it('is available on the promises of a batch and of a transaction', async () => {
    const batch = db.batch([
      db.insert(todo).values({ id: 'a', title: 'milk' }),
      db.run(sql`UPDATE todo SET title = 'tea'`),
    ]);
    expectTypeOf(batch.synced).toEqualTypeOf<Promise<void>>();
    expectTypeOf(batch).resolves.toEqualTypeOf<[StatementResult, StatementResult]>();
    expect((await batch).map(({ changes }) => changes)).toEqual([1, 1]);
    expect(await rejection(batch.synced)).toBe('resolved');
    const transaction = db.transaction(async (tx) => {
      const { synced } = await tx.insert(todo).values({ id: 'b', title: 'never' });
      return synced;
    });
    expectTypeOf(transaction.synced).toEqualTypeOf<Promise<void>>();
    expect(await transaction).toBeUndefined();
    expect(await rejection(transaction.synced)).toBe('changeset-refused');
  });

  it('is an error for a write that failed locally', async () => {
    const batch = db.batch([db.select().from(todo) as never]);
    expect(await rejection(batch.synced)).toBe('sql-forbidden');
    await expect(batch).rejects.toMatchObject({ code: 'sql-forbidden' });
    const insert = db
      .insert(todo)
      .values({ id: 'a', title: sql.placeholder('title') })
      .prepare();
    await expect(insert.run({})).rejects.toBeInstanceOf(Error);
  });
});

it('rejects `db` within `db.transaction` at once and rolls back', async () => {
  const transaction = db.transaction(async (tx) => {
    await tx.insert(todo).values({ id: 'a', title: 'milk' });
    await db.insert(todo).values({ id: 'b', title: 'bread' });
  });
  await expect(transaction).rejects.toMatchObject({ code: 'write-in-transaction', recovery: 'bug' });
  await db.insert(todo).values({ id: 'c', title: 'tea' });
  expect(await db.select({ id: todo.id }).from(todo)).toEqual([{ id: 'c' }]);
});

it('the browser client names the Node client in its error if it runs in Node', async () => {
  await expect(createBrowserClient({ name: 'todos', schema })).rejects.toMatchObject({
    code: 'worker-unavailable',
    recovery: 'bug',
    fields: { use: '@rockpool/client/node' },
  });
});
