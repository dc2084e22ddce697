import { createClient, RockpoolError, type Client, type StatementResult } from '@rockpool/client';
import { defineSchema } from '@rockpool/client/schema';
import { and, asc, count, desc, eq, gt, inArray, like, relations, sql } from 'drizzle-orm';
import { alias, blob, integer, numeric, real, sqliteTable, text, unionAll } from 'drizzle-orm/sqlite-core';
import { afterEach, describe, expect, expectTypeOf, it, vi } from 'vitest';
import { drizzle, type RockpoolDatabase, type WriteResult } from './index.ts';

const list = sqliteTable('list', { id: text().primaryKey(), name: text().notNull().unique() });
const todo = sqliteTable('todo', {
  id: text().primaryKey(),
  // SQLite's name of this column is also the name of a relation. Results must keep the two apart.
  listId: text('list').references(() => list.id),
  title: text().notNull(),
  done: integer({ mode: 'boolean' }).notNull().default(false),
  dueAt: integer('due_at', { mode: 'timestamp' }),
  seenAt: integer('seen_at', { mode: 'timestamp_ms' }),
  tags: text({ mode: 'json' }).$type<string[]>(),
  weight: real(),
});
const raw = sqliteTable('raw', {
  id: text().primaryKey(),
  bytes: blob().$type<Uint8Array>(),
  big: blob({ mode: 'bigint' }),
  json: blob({ mode: 'json' }).$type<{ a: number }>(),
  exact: numeric({ mode: 'bigint' }),
  whole: integer().$type<number | bigint>(),
});
const listRelations = relations(list, ({ many }) => ({ todos: many(todo) }));
const todoRelations = relations(todo, ({ one }) => ({
  list: one(list, { fields: [todo.listId], references: [list.id] }),
}));
const tables = { list, todo, raw, listRelations, todoRelations };
const schema = defineSchema(tables);

const open: Client[] = [];

async function openDatabase(): Promise<RockpoolDatabase<typeof tables>> {
  const client = await createClient({ name: `drizzle-${crypto.randomUUID()}`, schema, persistence: 'memory' });
  open.push(client);
  return drizzle(client, { schema: tables });
}

afterEach(async () => {
  await Promise.all(open.splice(0).map((client) => client.close()));
});

async function failureOf(promise: PromiseLike<unknown>): Promise<RockpoolError> {
  const thrown = await promise.then(
    () => null,
    (error: unknown) => error,
  );
  expect(thrown).toBeInstanceOf(RockpoolError);
  return thrown as RockpoolError;
}

async function withRows(): Promise<RockpoolDatabase<typeof tables>> {
  const db = await openDatabase();
  await db.insert(list).values([
    { id: 'l1', name: 'home' },
    { id: 'l2', name: 'work' },
    { id: 'l3', name: 'empty' },
  ]);
  await db.insert(todo).values([
    { id: 't1', listId: 'l1', title: 'milk', tags: ['food', 'white'] },
    { id: 't2', listId: 'l1', title: 'bread', done: true },
    { id: 't3', listId: 'l2', title: 'mail' },
    { id: 't4', title: 'loose' },
  ]);
  return db;
}

describe('builders', () => {
  it('insert, select, update and delete', async () => {
    const db = await withRows();
    const written = await db.update(todo).set({ done: true }).where(eq(todo.listId, 'l2'));
    expectTypeOf(written).toEqualTypeOf<WriteResult>();
    expect(written).toEqual({ changes: 1, rows: [] });
    expect(await db.delete(todo).where(eq(todo.id, 't4'))).toEqual({ changes: 1, rows: [] });
    const done = await db
      .select({ id: todo.id, done: todo.done })
      .from(todo)
      .where(and(eq(todo.done, true), like(todo.title, '%a%')))
      .orderBy(desc(todo.id));
    expectTypeOf(done).toEqualTypeOf<{ id: string; done: boolean }[]>();
    expect(done).toEqual([
      { id: 't3', done: true },
      { id: 't2', done: true },
    ]);
  });

  it('update on conflict', async () => {
    const db = await withRows();
    await db
      .insert(list)
      .values({ id: 'l1', name: 'house' })
      .onConflictDoUpdate({ target: list.id, set: { name: sql`excluded.name` } });
    expect(await db.select({ name: list.name }).from(list).where(eq(list.id, 'l1')).get()).toEqual({ name: 'house' });
  });

  it('distinguish columns with the same name in two joined tables', async () => {
    const db = await withRows();
    const rows = await db.select().from(todo).innerJoin(list, eq(todo.listId, list.id)).where(eq(todo.id, 't3'));
    expect(rows[0]?.todo.id).toBe('t3');
    expect(rows[0]?.list).toEqual({ id: 'l2', name: 'work' });
    const other = alias(todo, 'other');
    const pairs = await db
      .select({ a: todo.id, b: other.id })
      .from(todo)
      .innerJoin(other, and(eq(todo.listId, other.listId), gt(other.id, todo.id)));
    expect(pairs).toEqual([{ a: 't1', b: 't2' }]);
  });

  it('return null for a table without a joined row', async () => {
    const db = await withRows();
    const rows = await db
      .select()
      .from(todo)
      .leftJoin(list, eq(todo.listId, list.id))
      .where(inArray(todo.id, ['t1', 't4']))
      .orderBy(asc(todo.id));
    expectTypeOf(rows[0]!.list).toEqualTypeOf<{ id: string; name: string } | null>();
    expect(rows.map((row) => row.list)).toEqual([{ id: 'l1', name: 'home' }, null]);
    const empty = await db
      .select({ list: list.name, todo: { weight: todo.weight, id: todo.id } })
      .from(list)
      .leftJoin(todo, eq(todo.listId, list.id))
      .where(eq(list.id, 'l2'));
    expect(empty).toEqual([{ list: 'work', todo: { weight: null, id: 't3' } }]);
    const inner = db
      .select({ listId: todo.listId, n: count().as('n'), last: sql<string>`max(${todo.id})`.as('last') })
      .from(todo)
      .groupBy(todo.listId)
      .as('inner');
    const counted = await db.select().from(list).leftJoin(inner, eq(inner.listId, list.id)).orderBy(list.id);
    expect(counted.map((row) => row.inner)).toEqual([
      { listId: 'l1', n: 2, last: 't2' },
      { listId: 'l2', n: 1, last: 't3' },
      null,
    ]);
  });

  it('keep the order of rows, of sub-queries and of unions', async () => {
    const db = await withRows();
    const titles = async (): Promise<string[]> =>
      (await db.select({ title: todo.title }).from(todo).orderBy(todo.title)).map(({ title }) => title);
    expect(await titles()).toEqual(['bread', 'loose', 'mail', 'milk']);
    const both = await unionAll(db.select({ text: todo.title }).from(todo), db.select({ text: list.name }).from(list))
      .orderBy(sql`1 desc`)
      .limit(3);
    expect(both).toEqual([{ text: 'work' }, { text: 'milk' }, { text: 'mail' }]);
    const perList = db.$with('per_list').as(
      db
        .select({ listId: todo.listId, n: count().as('n') })
        .from(todo)
        .groupBy(todo.listId),
    );
    expect(
      await db
        .with(perList)
        .select({ name: list.name, n: perList.n })
        .from(perList)
        .innerJoin(list, eq(list.id, perList.listId))
        .orderBy(list.name),
    ).toEqual([
      { name: 'home', n: 2 },
      { name: 'work', n: 1 },
    ]);
  });

  it('count, and run SQL text', async () => {
    const db = await withRows();
    expect(await db.$count(todo, eq(todo.done, false))).toBe(3);
    expect(
      await db
        .select({
          n: sql<number>`count(*)`,
          most: sql`max(${todo.title})`.mapWith((title: string) => title.toUpperCase()),
        })
        .from(todo),
    ).toEqual([{ n: 4, most: 'MILK' }]);
    expect(await db.all(sql`select id from todo where title = ${'milk'}`)).toEqual([{ id: 't1' }]);
    expect(await db.get(sql`select id from todo where title = ${'none'}`)).toBeUndefined();
    expect(
      await db.values(sql`select t.id, l.id from todo t join list l on l.id = t.list order by t.id limit 1`),
    ).toEqual([['t1', 'l1']]);
    expect((await failureOf(db.values(sql`select 'a' as x, 1`))).code).toBe('query-invalid');
    expect(await db.run(sql`update todo set title = ${'oat milk'} where id = 't1'`)).toEqual({ changes: 1, rows: [] });
    expect(await db.select({ id: todo.id, title: todo.title }).from(todo).limit(1).values()).toEqual([
      ['t1', 'oat milk'],
    ]);
  });
});

describe('modes', () => {
  it('read values back as written', async () => {
    const db = await openDatabase();
    const row = {
      id: 't',
      listId: null,
      title: 'x',
      done: true,
      dueAt: new Date(1_700_000_000_000),
      seenAt: new Date(1_700_000_000_123),
      tags: ['a', 'ü'],
      weight: 1.5,
    };
    await db.insert(todo).values(row);
    expect(await db.select().from(todo)).toEqual([row]);
    expect(await db.all(sql`select done, due_at, seen_at, tags from todo`)).toEqual([
      { done: 1, due_at: 1_700_000_000, seen_at: 1_700_000_000_123, tags: '["a","ü"]' },
    ]);
    expect(
      await db
        .select({ id: todo.id })
        .from(todo)
        .where(and(eq(todo.done, true), eq(todo.dueAt, row.dueAt))),
    ).toEqual([{ id: 't' }]);
  });

  it('read blobs and integers beyond 2^53 back as written even without Buffer', async () => {
    expect('Buffer' in globalThis).toBe(false);
    const db = await openDatabase();
    const row = {
      id: 'r',
      bytes: new Uint8Array([0, 1, 255]),
      big: 2n ** 80n,
      json: { a: 1 },
      exact: 2n ** 60n + 1n,
      whole: 2n ** 53n + 1n,
    };
    await db.insert(raw).values(row);
    expect(await db.select().from(raw)).toEqual([row]);
    expect(
      await db.all(sql`select typeof(big) as big, typeof(exact) as exact, typeof(bytes) as bytes from raw`),
    ).toEqual([{ big: 'blob', exact: 'integer', bytes: 'blob' }]);
    expect(await db.query.raw.findMany()).toEqual([row]);
  });

  it('read NULL as null', async () => {
    const db = await openDatabase();
    await db.insert(raw).values({ id: 'r' });
    expect(await db.select().from(raw)).toEqual([
      { id: 'r', bytes: null, big: null, json: null, exact: null, whole: null },
    ]);
  });
});

describe('relational queries', () => {
  it('return rows with their related rows', async () => {
    const db = await withRows();
    const lists = await db.query.list.findMany({
      with: { todos: { columns: { id: true, done: true, tags: true }, orderBy: asc(todo.id) } },
      orderBy: asc(list.id),
    });
    expectTypeOf(lists[0]!.todos[0]!).toEqualTypeOf<{ id: string; done: boolean; tags: string[] | null }>();
    expect(lists[0]).toEqual({
      id: 'l1',
      name: 'home',
      todos: [
        { id: 't1', done: false, tags: ['food', 'white'] },
        { id: 't2', done: true, tags: null },
      ],
    });
    expect(lists[2]?.todos).toEqual([]);
  });

  it('distinguish a relation from a column with the same name', async () => {
    const db = await withRows();
    expect(
      await db.query.todo.findFirst({
        columns: { id: true, listId: true },
        with: { list: true },
        where: eq(todo.id, 't3'),
      }),
    ).toEqual({
      id: 't3',
      listId: 'l2',
      list: { id: 'l2', name: 'work' },
    });
    expect(await db.query.todo.findFirst({ where: eq(todo.id, 'none') })).toBeUndefined();
  });

  it('accept placeholders and extras', async () => {
    const db = await withRows();
    const byList = db.query.todo
      .findMany({
        columns: { id: true },
        where: eq(todo.listId, sql.placeholder('listId')),
        extras: { shout: sql<string>`upper(${todo.title})`.as('shout') },
        orderBy: asc(todo.id),
      })
      .prepare();
    expect(await byList.execute({ listId: 'l1' })).toEqual([
      { id: 't1', shout: 'MILK' },
      { id: 't2', shout: 'BREAD' },
    ]);
    expect(await byList.execute({ listId: 'l2' })).toEqual([{ id: 't3', shout: 'MAIL' }]);
  });
});

describe('prepared statements', () => {
  it('run again with other values, encoded by their columns', async () => {
    const db = await openDatabase();
    const insert = db
      .insert(todo)
      .values({ id: sql.placeholder('id'), title: 'x', dueAt: sql.placeholder('dueAt'), done: sql.placeholder('done') })
      .prepare();
    await insert.run({ id: 'a', dueAt: new Date(5000), done: true });
    await insert.execute({ id: 'b', dueAt: null, done: false });
    const due = db
      .select({ id: todo.id, dueAt: todo.dueAt })
      .from(todo)
      .where(eq(todo.done, sql.placeholder('done')))
      .prepare();
    expect(await due.all({ done: true })).toEqual([{ id: 'a', dueAt: new Date(5000) }]);
    expect(await due.get({ done: false })).toEqual({ id: 'b', dueAt: null });
    expect(await due.values({ done: true })).toEqual([['a', 5]]);
  });

  it('reject with the name of a placeholder that has no value', async () => {
    const db = await openDatabase();
    const failure = await failureOf(
      db
        .select()
        .from(list)
        .where(eq(list.id, sql.placeholder('id')))
        .prepare()
        .all(),
    );
    expect([failure.code, failure.fields]).toEqual(['query-invalid', { problem: 'placeholder', placeholder: 'id' }]);
  });
});

describe('a batch', () => {
  it('runs as one transaction: all or nothing', async () => {
    const db = await withRows();
    const results = await db.batch([
      db.insert(list).values({ id: 'l4', name: 'new' }),
      db
        .update(todo)
        .set({ listId: 'l4' })
        .where(inArray(todo.id, ['t1', 't4'])),
      db.run(sql`delete from todo where id = ${'t2'}`),
    ]);
    expectTypeOf(results).toEqualTypeOf<[StatementResult, StatementResult, StatementResult]>();
    expect(results).toMatchObject([{ changes: 1 }, { changes: 2 }, { changes: 1 }]);
    const failure = await failureOf(db.batch([db.delete(todo), db.insert(list).values({ id: 'l5', name: 'new' })]));
    expect(failure.code).toBe('constraint-unique');
    expect(await db.$count(todo)).toBe(3);
  });

  it('is sent in one call of the client', async () => {
    const db = await openDatabase();
    const batch = vi.spyOn(db.$client, 'batch');
    const execute = vi.spyOn(db.$client, 'execute');
    await db.batch(['a', 'b'].map((id) => db.insert(list).values({ id, name: id })));
    expect([batch.mock.calls.length, execute.mock.calls.length]).toEqual([1, 0]);
  });

  it('rejects statements that return rows, and writes nothing', async () => {
    const db = await withRows();
    // @ts-expect-error a select has no result in a batch
    expect((await failureOf(db.batch([db.delete(todo), db.select().from(todo)]))).fields).toEqual({
      problem: 'a batch cannot contain statements that return rows',
    });
    // @ts-expect-error nor has returning
    expect((await failureOf(db.batch([db.delete(todo), db.delete(list).returning()]))).fields).toEqual({
      problem: 'a batch cannot contain statements that return rows',
    });
    // @ts-expect-error nor has SQL text that is read
    expect((await failureOf(db.batch([db.delete(todo), db.all(sql`select 1`)]))).code).toBe('sql-forbidden');
    expect(await db.$count(todo)).toBe(4);
  });
});

describe('a transaction', () => {
  it('reads its own writes, and takes effect as a whole', async () => {
    const db = await withRows();
    const made = await db.transaction(async (tx) => {
      await tx.update(todo).set({ done: true }).where(eq(todo.listId, 'l1'));
      const open = await tx.select({ id: todo.id }).from(todo).where(eq(todo.done, false)).orderBy(todo.id);
      expect(open).toEqual([{ id: 't3' }, { id: 't4' }]);
      expect(await db.$count(todo, eq(todo.done, false))).toBe(3);
      expect(
        (await tx.query.list.findFirst({ where: eq(list.id, 'l1'), with: { todos: true } }))?.todos.every(
          ({ done }) => done,
        ),
      ).toBe(true);
      return tx.insert(list).values({ id: 'l4', name: 'new' }).returning();
    });
    expectTypeOf(made).toEqualTypeOf<{ id: string; name: string }[]>();
    expect(made).toEqual([{ id: 'l4', name: 'new' }]);
    expect(await db.$count(todo, eq(todo.done, false))).toBe(2);
  });

  it('rolls back all its writes, and a nested one only its own', async () => {
    const db = await withRows();
    await expect(
      db.transaction(async (tx) => {
        await tx.delete(todo);
        tx.rollback();
      }),
    ).rejects.toThrow();
    expect(await db.$count(todo)).toBe(4);
    await db.transaction(async (tx) => {
      await tx.delete(todo).where(eq(todo.id, 't1'));
      const nested = tx.transaction(async (inner) => {
        await inner.delete(todo);
        inner.rollback();
      });
      await expect(nested).rejects.toThrow();
    });
    expect(await db.$count(todo)).toBe(3);
  });

  it('has the limits and errors of the client', async () => {
    const db = await withRows();
    expect((await failureOf(db.transaction(() => new Promise(() => undefined), { timeoutMs: 50 }))).code).toBe(
      'transaction-timeout',
    );
    const failure = await failureOf(
      db.transaction((tx) => tx.insert(list).values({ id: 'l1', name: 'secret name' }).execute()),
    );
    expect(failure.code).toBe('constraint-primary-key');
    expect(JSON.stringify(failure.toData())).not.toContain('secret');
  });

  it('runs its own prepared statements', async () => {
    const db = await withRows();
    const ids = await db.transaction(async (tx) => {
      const byTitle = tx
        .select({ id: todo.id })
        .from(todo)
        .where(eq(todo.title, sql.placeholder('title')))
        .prepare();
      return [await byTitle.all({ title: 'milk' }), await byTitle.all({ title: 'mail' })];
    });
    expect(ids).toEqual([[{ id: 't1' }], [{ id: 't3' }]]);
  });
});

describe('returning', () => {
  it('returns the written rows with Drizzle types', async () => {
    const db = await withRows();
    const [inserted] = await db
      .insert(todo)
      .values({ id: 't9', title: 'x', dueAt: new Date(5_000), tags: ['a'] })
      .returning();
    expect(inserted).toEqual({
      id: 't9',
      listId: null,
      title: 'x',
      done: false,
      dueAt: new Date(5_000),
      seenAt: null,
      tags: ['a'],
      weight: null,
    });
    const updated = await db
      .update(todo)
      .set({ done: true })
      .where(eq(todo.id, 't9'))
      .returning({ id: todo.id, done: todo.done });
    expectTypeOf(updated).toEqualTypeOf<{ id: string; done: boolean }[]>();
    expect(updated).toEqual([{ id: 't9', done: true }]);
    expect(await db.delete(todo).where(eq(todo.id, 't9')).returning({ id: todo.id }).get()).toEqual({ id: 't9' });
    expect(await db.delete(todo).where(eq(todo.id, 't9')).returning()).toEqual([]);
  });

  it('distinguishes fields with the same SQLite name', async () => {
    const db = await withRows();
    const rows = await db
      .update(list)
      .set({ name: 'Home' })
      .where(eq(list.id, 'l1'))
      .returning({ name: list.name, upper: sql<string>`upper(${list.name})`.as('name'), two: sql<number>`1 + 1` });
    expect(rows).toEqual([{ name: 'Home', upper: 'HOME', two: 2 }]);
  });

  it('keeps integers beyond 2^53 and bytes', async () => {
    const db = await openDatabase();
    const [row] = await db
      .insert(raw)
      .values({ id: 'a', whole: 2n ** 60n, exact: 2n ** 61n, bytes: new Uint8Array([1, 2]) })
      .returning();
    expect(row).toMatchObject({ whole: 2n ** 60n, exact: 2n ** 61n, bytes: new Uint8Array([1, 2]) });
  });

  it('returns the stored row of a write on conflict', async () => {
    const db = await withRows();
    const upsert = db
      .insert(list)
      .values({ id: 'l1', name: 'other' })
      .onConflictDoUpdate({ target: list.id, set: { name: 'renamed' } })
      .returning();
    expect(await upsert).toEqual([{ id: 'l1', name: 'renamed' }]);
  });
});

describe('errors', () => {
  const everythingOf = (error: unknown): string => {
    const { message, stack, cause, ...own } = error as Error & Record<string, unknown>;
    return JSON.stringify([message, stack, String(cause), own, (error as RockpoolError).fields]);
  };

  it("are the client's own and contain no parameter", async () => {
    const db = await withRows();
    const failures = [
      await failureOf(db.insert(list).values({ id: 'secret-4711', name: 'home' })),
      await failureOf(db.batch([db.insert(list).values({ id: 'secret-4711', name: 'home' })])),
      await failureOf(db.run(sql`insert into list values (${'secret-4711'}, ${'home'})`)),
      await failureOf(db.select({ x: sql`nonsense(${'secret-4711'})` }).from(list)),
      await failureOf(db.all(sql`selec ${'secret-4711'}`)),
      await failureOf(db.query.list.findMany({ where: sql`nonsense(${'secret-4711'})` })),
      await failureOf(
        db
          .update(todo)
          .set({ dueAt: sql.placeholder('due') as never })
          .prepare()
          .run({ due: 'secret-4711' }),
      ),
    ];
    expect(failures.map(({ code }) => code)).toEqual([
      'constraint-unique',
      'constraint-unique',
      'constraint-unique',
      'query-invalid',
      'query-invalid',
      'query-invalid',
      'value-invalid',
    ]);
    for (const failure of failures) expect(everythingOf(failure)).not.toContain('4711');
    expect(failures[0]?.fields).toMatchObject({ table: 'list' });
  });

  it('name the column of an undecodable value without the value', async () => {
    const db = await withRows();
    await db.run(sql`update todo set tags = ${'secret-4711'} where id = 't1'`);
    const failures = [await failureOf(db.select().from(todo)), await failureOf(db.query.todo.findMany())];
    expect(failures.map(({ code }) => code)).toEqual(['internal', 'internal']);
    expect(failures[0]?.fields['column']).toBe('tags');
    for (const failure of failures) expect(everythingOf(failure)).not.toContain('4711');
  });

  it('report a closed client', async () => {
    const db = await openDatabase();
    await db.$client.close();
    expect((await failureOf(db.select().from(list))).code).toBe('client-closed');
    expect((await failureOf(db.delete(list))).code).toBe('client-closed');
  });
});

it('drizzle() reports in its type that db.query needs a schema', async () => {
  const db = drizzle((await openDatabase()).$client);
  expectTypeOf(db.query).not.toHaveProperty('list');
  expect(Object.keys(db.query)).toEqual([]);
  expect(await db.select().from(list)).toEqual([]);
});
