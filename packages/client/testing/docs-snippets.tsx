// Code of the documentation that no test runs, so that its types are checked. scripts/docs/code-blocks.test.mjs finds
// each line of such a block in this file.

import { eq } from 'drizzle-orm';
import { index, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import type { ReactElement } from 'react';
import { createClient, sql, type Client } from '@rockpool/client';
import { drizzle } from '@rockpool/client/drizzle';
import { RockpoolProvider, useDocument, useLiveQuery, useSyncStatus } from '@rockpool/client/react';
import { defineSchema, documentPath } from '@rockpool/client/schema';

interface Account {
  readonly name: string;
}

interface Page {
  readonly body: string;
}

/** guides/client.md, React. */
export function Provider({ client }: { readonly client: Client }): ReactElement {
  return <RockpoolProvider client={client}>…</RockpoolProvider>;
}

/** guides/client.md, React. */
export function useGuideHooks(id: string, least: number): readonly unknown[] {
  const { rows, error, loading } = useLiveQuery<Account>(sql`SELECT * FROM account WHERE balance > ${least}`);
  const { document, value } = useDocument<Page>('page', [id], 'content');
  const { state, pendingCount } = useSyncStatus();
  return [rows, error, loading, document, value, state, pendingCount];
}

/** guides/client.md, Documents. */
export async function queryByPath(client: Client): Promise<readonly unknown[]> {
  const page = sqliteTable('page', { id: text().primaryKey(), content: text({ mode: 'json' }) }, (table) => [
    index('page_kind').on(documentPath(table.content, 'kind')),
  ]);
  const schema = defineSchema(
    { page },
    { merge: [{ table: page, documents: [{ column: page.content, text: ['body'] }] }] },
  );
  const database = drizzle(client);
  const notes = await database
    .select()
    .from(page)
    .where(eq(documentPath(page.content, 'kind'), 'note'))
    .orderBy(documentPath(page.content, 'title'));
  const name = 'notes';
  const synced = createClient({
    name,
    schema,
    sync: { url: 'wss://example.org/sync', databaseId: 'my-list', token: () => fetch('/token') },
  });
  return [notes, await synced];
}

/** guides/client.md, Who is here. */
export async function editText(client: Client, id: string): Promise<readonly unknown[]> {
  const note = await client.document('note', [id], 'content');
  const text = note.text('body'); // a Y.Text, where the schema says that `body` merges by character
  return [text, note.awareness, { undoManager: note.undoManager }];
}

/** concepts.md, The life of one write. */
export async function twoPromises(client: Client, id: string): Promise<void> {
  const write = client.execute(sql`UPDATE todo SET done = 1 WHERE id = ${id}`);
  await write; // safe on this device: step 2
  await write.synced; // the server has it: step 7
}

/** README.md of the client package. */
export async function firstLines(): Promise<void> {
  const { newId } = await import('@rockpool/client');
  const todo = sqliteTable('todo', { id: text().primaryKey(), title: text().notNull() });
  const client = await createClient({ name: 'todos', schema: defineSchema({ todo }) });

  await client.execute(sql`INSERT INTO todo (id, title) VALUES (${newId()}, ${'buy milk'})`);
  client.live<{ title: string }>('SELECT title FROM todo ORDER BY id').subscribe(({ rows }) => console.log(rows));
}
