import { buildSchema, decodeChangesetBody, DEFAULT_DOCUMENT_RULE, DEFAULT_MERGE_RULES } from '@rockpool/shared';
import { isDocumentEdit } from '@rockpool/shared/document';
import { eq, sql } from 'drizzle-orm';
import { sqliteTable, text } from 'drizzle-orm/sqlite-core';
import { drizzle } from 'drizzle-orm/sqlite-proxy';
import { expect, it } from 'vitest';
import { testTable } from '../../../testing/worker/table-schema.ts';
import { openInMemory } from '../../../testing/worker/test-database.ts';

const schema = buildSchema([
  testTable(
    'page',
    { id: 'text not null', content: 'text' },
    { merge: { ...DEFAULT_MERGE_RULES, documents: [{ ...DEFAULT_DOCUMENT_RULE, column: 'content', text: ['body'] }] } },
  ),
]);
const page = sqliteTable('page', { id: text().primaryKey(), content: text({ mode: 'json' }) });
const builder = drizzle(() => Promise.resolve({ rows: [] }));

const CONTENT = {
  body: 'The tide comes in. '.repeat(1_000),
  items: [
    { id: 'x', n: 1 },
    { id: 'y', n: 1 },
  ],
  n: 1,
};
const EDITED = {
  ...CONTENT,
  items: [
    { id: 'x', n: 1 },
    { id: 'y', n: 2 },
  ],
};
const byDrizzle = (content: object | ReturnType<typeof sql>): { sql: string; params: string[] } =>
  builder.update(page).set({ content }).where(eq(page.id, 'p')).toSQL() as { sql: string; params: string[] };

it.each<[way: string, statement: { sql: string; params: string[] }]>([
  ['json_set', { sql: `UPDATE page SET content = json_set(content, '$.items[1].n', 2)`, params: [] }],
  ['json_replace', { sql: `UPDATE page SET content = json_replace(content, '$.items[1].n', 2)`, params: [] }],
  [
    'json_patch',
    {
      sql: `UPDATE page SET content = json_patch(content, '{"items":[{"id":"x","n":1},{"id":"y","n":2}]}')`,
      params: [],
    },
  ],
  [
    'replace, as on any text',
    { sql: `UPDATE page SET content = replace(content, '"id":"y","n":1', '"id":"y","n":2')`, params: [] },
  ],
  [
    'the whole text in another form',
    {
      sql: 'UPDATE page SET content = ?',
      params: [
        JSON.stringify({ n: 1, items: EDITED.items.map(({ id, n }) => ({ n, id })), body: CONTENT.body }, null, 2),
      ],
    },
  ],
  [
    'an upsert',
    {
      sql: `INSERT INTO page (id, content) VALUES ('p', ?) ON CONFLICT DO UPDATE SET content = excluded.content`,
      params: [JSON.stringify(EDITED)],
    },
  ],
  ['Drizzle', byDrizzle(EDITED)],
  ['json_set from Drizzle', byDrizzle(sql`json_set(${page.content}, '$.items[1].n', 2)`)],
])('a change by %s is captured as an edit of the difference', (_, statement) => {
  const database = openInMemory({ schema });
  database.write({
    id: 'i',
    statements: [{ sql: `INSERT INTO page (id, content) VALUES ('p', ?)`, params: [JSON.stringify(CONTENT)] }],
  });
  database.write({ id: 'u', statements: [statement] });
  expect(database.connection.value('SELECT content FROM page')).toBe(JSON.stringify(EDITED));
  const { groups } = decodeChangesetBody(
    database.connection.value('SELECT body FROM rockpool_changelog ORDER BY sequence DESC') as Uint8Array,
  );
  const edit = groups[0]?.values[0]?.[0] as Uint8Array;
  expect(groups.map(({ kind, rowCount }) => [kind, rowCount])).toEqual([['update', 1]]);
  expect([isDocumentEdit(edit), edit.length < 60]).toEqual([true, true]);
  database.close();
});

it('a document written with equal content in a different form is not captured', () => {
  const database = openInMemory({ schema });
  database.write({
    id: 'i',
    statements: [{ sql: `INSERT INTO page (id, content) VALUES ('p', '{"a":1,"b":[2]}')`, params: [] }],
  });
  expect(
    database.write({ id: 'u', statements: [{ sql: `UPDATE page SET content = '{ "b": [2.0], "a": 1 }'`, params: [] }] })
      .sequence,
  ).toBeNull();
  database.close();
});
