// Tests the oldest Drizzle version that the package allows.
import * as used from 'drizzle-orm';
import { asc, count, eq, relations, sql } from 'drizzle-orm';
import * as allowed from 'drizzle-orm-floor';
import { index, integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { Client } from '../client.ts';
import { createClient } from '../node/index.ts';
import { defineSchema } from '../schema/index.ts';
import { drizzle, liveQuery, type RockpoolDatabase } from './index.ts';

vi.mock('drizzle-orm', () => import('drizzle-orm-floor'));
vi.mock('drizzle-orm/sqlite-core', () => import('drizzle-orm-floor/sqlite-core'));
vi.mock('drizzle-orm/sqlite-core/query-builders/raw', () => import('drizzle-orm-floor/sqlite-core/query-builders/raw'));

const list = sqliteTable('list', { id: text().primaryKey(), name: text().notNull().unique() });
const todo = sqliteTable(
  'todo',
  {
    id: text().primaryKey(),
    listId: text('list_id').references(() => list.id),
    title: text().notNull(),
    done: integer({ mode: 'boolean' }).notNull().default(false),
    tags: text({ mode: 'json' }).$type<string[]>(),
  },
  (table) => [index('todo_list').on(table.listId)],
);
const listRelations = relations(list, ({ many }) => ({ todos: many(todo) }));
const todoRelations = relations(todo, ({ one }) => ({
  list: one(list, { fields: [todo.listId], references: [list.id] }),
}));
const tables = { list, todo, listRelations, todoRelations };

let client: Client;
let db: RockpoolDatabase<typeof tables>;
beforeEach(async () => {
  client = await createClient({ name: 'oldest', schema: defineSchema({ list, todo }) });
  db = drizzle(client, { schema: tables });
  await db.batch([
    db.insert(list).values({ id: 'l', name: 'home' }),
    db.insert(todo).values([
      { id: 'a', listId: 'l', title: 'milk', tags: ['white'] },
      { id: 'b', title: 'bread', done: true },
    ]),
  ]);
});
afterEach(() => client.close());

it('the oldest supported Drizzle is the version under test', () => {
  expect(used.Table).toBe(allowed.Table);
});

it('the oldest supported Drizzle runs builders, joins, relations, prepared statements and SQL text', async () => {
  expect(
    await db
      .select({ title: todo.title, list: list.name, tags: todo.tags })
      .from(todo)
      .leftJoin(list, eq(list.id, todo.listId))
      .orderBy(asc(todo.id)),
  ).toEqual([
    { title: 'milk', list: 'home', tags: ['white'] },
    { title: 'bread', list: null, tags: null },
  ]);
  expect(await db.query.list.findFirst({ with: { todos: { columns: { title: true } } } })).toEqual({
    id: 'l',
    name: 'home',
    todos: [{ title: 'milk' }],
  });
  expect(await db.query.todo.findMany({ where: eq(todo.done, true), with: { list: true } })).toEqual([
    { id: 'b', listId: null, title: 'bread', done: true, tags: null, list: null },
  ]);
  const byId = db
    .select({ done: todo.done })
    .from(todo)
    .where(eq(todo.id, sql.placeholder('id')))
    .prepare();
  expect(await byId.get({ id: 'b' })).toEqual({ done: true });
  expect(await db.all(sql`SELECT ${count()} AS total FROM ${todo}`)).toEqual([{ total: 2 }]);
  expect(await db.update(todo).set({ done: true }).where(eq(todo.id, 'a')).returning({ id: todo.id })).toEqual([
    { id: 'a' },
  ]);
  expect((await db.delete(todo).where(eq(todo.id, 'a'))).changes).toBe(1);
  expect((await db.run(sql`UPDATE todo SET title = 'tea'`)).changes).toBe(1);
});

it('the oldest supported Drizzle runs transactions atomically and rejects with the errors of the client', async () => {
  const failed = db.transaction(async (tx) => {
    await tx.insert(list).values({ id: 'm', name: 'work' });
    await tx.transaction((inner) => inner.insert(list).values({ id: 'n', name: 'home' }));
  });
  await expect(failed).rejects.toMatchObject({ code: 'constraint-unique' });
  expect(await db.$count(list)).toBe(1);
});

it('the oldest supported Drizzle runs live queries', async () => {
  const titles: string[][] = [];
  const seen = new Promise<void>((resolve) => {
    liveQuery(client, db.select({ title: todo.title }).from(todo).where(eq(todo.done, false))).subscribe(({ rows }) => {
      titles.push(rows.map(({ title }) => title));
      if (titles.at(-1)?.length === 2) resolve();
    });
  });
  await db.insert(todo).values({ id: 'c', title: 'tea' });
  await seen;
  expect(titles.at(-1)).toEqual(['milk', 'tea']);
});
