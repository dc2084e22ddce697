import { createClient, RockpoolError, type Client, type LiveQuery, type LiveState } from '@rockpool/client';
import { defineSchema } from '@rockpool/client/schema';
import { eq, relations, sql } from 'drizzle-orm';
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import { afterEach, describe, expect, expectTypeOf, it } from 'vitest';
import { drizzle, liveQuery, type RockpoolDatabase } from './index.ts';

const list = sqliteTable('list', { id: text().primaryKey(), name: text().notNull() });
const todo = sqliteTable('todo', {
  id: text().primaryKey(),
  listId: text('list_id').references(() => list.id),
  done: integer({ mode: 'boolean' }).notNull().default(false),
  tags: text({ mode: 'json' }).$type<string[]>(),
});
const listRelations = relations(list, ({ many }) => ({ todos: many(todo) }));
const todoRelations = relations(todo, ({ one }) => ({
  list: one(list, { fields: [todo.listId], references: [list.id] }),
}));
const tables = { list, todo, listRelations, todoRelations };

const open: Client[] = [];

async function withRows(): Promise<RockpoolDatabase<typeof tables>> {
  const client = await createClient({
    name: `drizzle-live-${crypto.randomUUID()}`,
    schema: defineSchema(tables),
    persistence: 'memory',
  });
  open.push(client);
  const db = drizzle(client, { schema: tables });
  await db.batch([
    db.insert(list).values([
      { id: 'l1', name: 'home' },
      { id: 'l2', name: 'work' },
    ]),
    db
      .insert(todo)
      .values([
        { id: 't1', listId: 'l1', tags: ['food', 'white'] },
        { id: 't2', listId: 'l1', done: true },
        { id: 't3', listId: 'l2' },
        { id: 't4' },
      ]),
  ]);
  return db;
}

afterEach(async () => {
  await Promise.all(open.splice(0).map((client) => client.close()));
});

describe('a live query', () => {
  it('emits typed rows, and keeps unchanged row objects', async () => {
    const db = await withRows();
    const live = liveQuery(
      db.$client,
      db
        .select({ id: todo.id, done: todo.done, list: { name: list.name } })
        .from(todo)
        .leftJoin(list, eq(list.id, todo.listId))
        .orderBy(todo.id),
    );
    type Row = { id: string; done: boolean; list: { name: string } | null };
    expectTypeOf(live).toEqualTypeOf<LiveQuery<Row>>();
    const states: LiveState<Row>[] = [];
    const unsubscribe = live.subscribe((state) => states.push(state));
    await expect.poll(() => live.current.rows).toHaveLength(4);
    expect(live.current.rows[3]).toEqual({ id: 't4', done: false, list: null });
    expect(live.current).toBe(live.current);
    expect(states.at(-1)).toBe(live.current);
    const [first, second] = live.current.rows;
    await db.update(todo).set({ done: false }).where(eq(todo.id, 't2'));
    await expect.poll(() => live.current.rows[1]?.done).toBe(false);
    expect(live.current.rows[0]).toBe(first);
    expect(live.current.rows[1]).not.toBe(second);
    await db.update(list).set({ name: 'house' }).where(eq(list.id, 'l1'));
    await expect.poll(() => live.current.rows[0]?.list).toEqual({ name: 'house' });
    unsubscribe();
  });

  it('accepts relational queries and placeholders', async () => {
    const db = await withRows();
    const one = liveQuery(
      db.$client,
      db.query.list.findFirst({ where: eq(list.id, sql.placeholder('id')), with: { todos: true } }),
      { id: 'l2' },
    );
    const unsubscribe = one.subscribe(() => undefined);
    await expect.poll(() => one.current.rows[0]?.todos).toHaveLength(1);
    await db.update(todo).set({ listId: 'l2' }).where(eq(todo.id, 't4'));
    await expect.poll(() => one.current.rows[0]?.todos).toHaveLength(2);
    await db.batch([db.update(todo).set({ listId: null }), db.delete(list).where(eq(list.id, 'l2'))]);
    await expect.poll(() => one.current.rows).toEqual([]);
    unsubscribe();
  });

  it('reports an undecodable value as its error and recovers', async () => {
    const db = await withRows();
    const live = liveQuery(db.$client, db.select({ tags: todo.tags }).from(todo).where(eq(todo.id, 't1')));
    const unsubscribe = live.subscribe(() => undefined);
    await expect.poll(() => live.current.rows).toEqual([{ tags: ['food', 'white'] }]);
    await db.run(sql`update todo set tags = ${'no json'} where id = 't1'`);
    await expect.poll(() => live.current.error?.code).toBe('internal');
    expect(live.current.rows).toEqual([{ tags: ['food', 'white'] }]);
    await db.update(todo).set({ tags: [] }).where(eq(todo.id, 't1'));
    await expect.poll(() => live.current).toMatchObject({ rows: [{ tags: [] }], error: null });
    unsubscribe();
  });

  it('rejects a write', async () => {
    const db = await withRows();
    const write = db.delete(list);
    expect(() => liveQuery(db.$client, write)).toThrow(RockpoolError);
    expect(() => liveQuery(db.$client, db.delete(list).returning())).toThrow(RockpoolError);
  });
});
