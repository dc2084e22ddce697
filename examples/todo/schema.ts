import { defineSchema } from '@rockpool/client/schema';
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';

export interface Details {
  readonly note: string;
}

export const todo = sqliteTable('todo', {
  id: text().primaryKey(),
  title: text().notNull(),
  done: integer({ mode: 'boolean' }).notNull().default(false),
  details: text({ mode: 'json' }).$type<Details>().notNull().default({ note: '' }),
});

// Two people can edit one note at the same time, and both keep their letters.
export const schema = defineSchema(
  { todo },
  { merge: [{ table: todo, documents: [{ column: todo.details, text: ['note'] }] }] },
);
