import { createClient, newId, RockpoolError } from '@rockpool/client';
import { drizzle, liveQuery } from '@rockpool/client/drizzle';
import { defineSchema, matches, searchIndex } from '@rockpool/client/schema';
import { asc, eq, relations, sql } from 'drizzle-orm';
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';

const list = sqliteTable('list', { id: text().primaryKey(), name: text().notNull().unique() });
const todo = sqliteTable('todo', {
  id: text().primaryKey(),
  listId: text('list_id').references(() => list.id),
  title: text().notNull(),
  done: integer({ mode: 'boolean' }).notNull().default(false),
  dueAt: integer('due_at', { mode: 'timestamp_ms' }),
});
const listRelations = relations(list, ({ many }) => ({ todos: many(todo) }));
const todoRelations = relations(todo, ({ one }) => ({
  list: one(list, { fields: [todo.listId], references: [list.id] }),
}));
const todoSearch = searchIndex(todo, { columns: [todo.title] });
const tables = { list, todo, todoSearch, listRelations, todoRelations };

const client = await createClient({ name: 'drizzle-guide', schema: defineSchema(tables) });
const db = drizzle(client, { schema: tables });

const listId = newId();
await db.insert(list).values({ id: listId, name: 'home' });
await db.insert(todo).values({ id: newId(), listId, title: 'buy milk', dueAt: new Date(2030, 0, 1) });

const open = await db
  .select({ title: todo.title, list: list.name })
  .from(todo)
  .leftJoin(list, eq(list.id, todo.listId))
  .where(eq(todo.done, false));
const homeWithTodos = await db.query.list.findFirst({ where: eq(list.id, listId), with: { todos: true } });

const withMilk = await db.select({ title: todo.title }).from(todo).where(matches(todoSearch, 'mil'));

const dueBefore = db
  .select({ title: todo.title })
  .from(todo)
  .where(sql`${todo.dueAt} < ${sql.placeholder('limitMs')}`)
  .orderBy(asc(todo.dueAt))
  .prepare();
const thisDecade = await dueBefore.all({ limitMs: Date.UTC(2031, 0, 1) });

const renamed = await db.transaction(async (tx) => {
  const [first] = await tx.select({ id: todo.id, title: todo.title }).from(todo).where(eq(todo.done, false)).limit(1);
  if (first === undefined) return [];
  return tx
    .update(todo)
    .set({ title: `${first.title} today` })
    .where(eq(todo.id, first.id))
    .returning({ title: todo.title });
});

const workId = newId();
const moved = await db.batch([
  db.insert(list).values({ id: workId, name: 'work' }),
  db.update(todo).set({ listId: workId }).where(eq(todo.listId, listId)),
]);

const titles: string[][] = [];
const live = liveQuery(client, db.select({ title: todo.title }).from(todo).where(eq(todo.done, false)));
const unsubscribe = live.subscribe(({ rows, error }) => {
  if (error === null) titles.push(rows.map(({ title }) => title));
});

const code = await db
  .insert(list)
  .values({ id: newId(), name: 'work' })
  .then(
    () => null,
    (error: unknown) => (error instanceof RockpoolError ? error.code : 'other'),
  );

// The guide ends here; this is for its test.
export const seen: Record<string, unknown> & { titles: string[][] } = {
  withMilk,
  open,
  homeWithTodos,
  thisDecade,
  renamed,
  moved,
  code,
  titles,
};
export async function end(): Promise<void> {
  unsubscribe();
  await client.close();
}
