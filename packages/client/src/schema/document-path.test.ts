import { asc, eq, gt, inArray, type SQL } from 'drizzle-orm';
import { index, QueryBuilder, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import { expect, it } from 'vitest';
import { openInMemory } from '../../testing/worker/test-database.ts';
import { defineSchema } from './define-schema.ts';
import { documentPath, documentPlainText } from './document-path.ts';

const page = sqliteTable('page', { id: text().primaryKey(), content: text({ mode: 'json' }) }, (table) => [
  index('page_kind').on(documentPath(table.content, 'kind')),
  index('page_size').on(documentPath(table.content, "it's", 0, 'size')),
]);
const kind: SQL<string> = documentPath<string>(page.content, 'kind');
const size: SQL<number> = documentPath<number>(page.content, "it's", 0, 'size');
const builder = new QueryBuilder();

function plan(query: { toSQL(): { sql: string; params: unknown[] } }): string {
  const { sql, params } = query.toSQL();
  return database.connection
    .rows(`EXPLAIN QUERY PLAN ${sql}`, ...(params as string[]))
    .map((row) => String(row[3]))
    .join('; ');
}

const database = openInMemory({
  schema: defineSchema([page], { merge: [{ table: page, documents: [{ column: page.content, richText: ['note'] }] }] }),
});

it('documentPath extracts, filters and orders by an index over the path', () => {
  expect(plan(builder.select({ kind }).from(page).orderBy(kind))).toBe('SCAN page USING COVERING INDEX page_kind');
  expect(plan(builder.select({ id: page.id }).from(page).where(eq(kind, 'note')))).toMatch(
    /^SEARCH page USING INDEX page_kind/,
  );
  expect(plan(builder.select().from(page).where(gt(size, 3)).orderBy(asc(size)))).toBe(
    'SEARCH page USING INDEX page_size (<expr>>?)',
  );
});

it('documentPath returns the value at the path', () => {
  const insert = {
    sql: 'INSERT INTO page (id, content) VALUES (?, ?)',
    params: ['p', `{"it's":[{"size":7}],"kind":"note"}`],
  };
  database.write({ id: 'r', statements: [insert] });
  const { sql } = builder.select({ kind, size }).from(page).toSQL();
  expect(database.connection.rows(sql)).toEqual([['note', 7]]);
});

it('documentPlainText returns the plain text of a text with formats', () => {
  const insert = (id: string, content: unknown) => ({
    sql: 'INSERT INTO page (id, content) VALUES (?, ?)',
    params: [id, JSON.stringify(content)],
  });
  const runs = [
    { insert: 'low ' },
    { insert: 'ti', attributes: { bold: true } },
    { insert: 'de, and more' },
    { insert: '!', attributes: { link: 'x' } },
  ];
  database.write({ id: 's', statements: [insert('q', { note: runs }), insert('r', { note: null }), insert('s', {})] });
  const { sql } = builder
    .select({ note: documentPlainText(page.content, 'note') })
    .from(page)
    .where(inArray(page.id, ['q', 'r', 's']))
    .orderBy(page.id)
    .toSQL();
  expect(database.connection.rows(sql, 'q', 'r', 's')).toEqual([['low tide, and more!'], [''], ['']]);
});
