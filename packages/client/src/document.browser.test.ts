import { sqliteTable, text } from 'drizzle-orm/sqlite-core';
import { afterEach, describe, expect, it } from 'vitest';
import type * as Y from 'yjs';
import type { Client } from './client.ts';
import { createClient } from './create-client.ts';
import type { ClientOptions } from './interface/client-options.ts';
import { defineSchema } from './schema/define-schema.ts';
import { sql } from './tab/sql.ts';
import { freshName, openTab, until, type BrowserTab } from '../testing/browser-tabs.ts';

interface Content {
  readonly body: string;
  readonly items?: readonly { readonly id: string; readonly n: number }[];
}

const page = sqliteTable('page', { id: text().primaryKey(), content: text() });
const schema = defineSchema([page], {
  merge: [{ table: page, documents: [{ column: page.content, text: ['body'] }] }],
});

const clients: Client[] = [];
const tabs: BrowserTab[] = [];

afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.close()));
  for (const tab of tabs.splice(0)) tab.kill();
});

async function openPage(content: Content, onError?: ClientOptions['onError']): Promise<Client> {
  const client = await createClient({ name: freshName(), schema, ...(onError && { onError }) });
  clients.push(client);
  await client.execute(sql`INSERT INTO page VALUES ('p', ${JSON.stringify(content)})`);
  return client;
}

const stored = async (client: Client): Promise<unknown> =>
  (await client.query<{ content: string }>('SELECT content FROM page'))[0]?.content;

function bodyOf(doc: Y.Doc): Y.Text {
  // Does not check the class: an error from another tab's frame is an instance of that frame's classes.
  return (doc.getMap('json').get('value') as Y.Map<unknown>).get('body') as Y.Text;
}

describe('an open document', () => {
  it('shows writes made by SQL, and SQL reads its changes', async () => {
    const client = await openPage({ body: 'low tide' });
    const document = await client.document<Content>('page', ['p'], 'content');
    expect(document.current.value).toEqual({ body: 'low tide' });
    document.change((value) => ({ ...value, items: [{ id: 'x', n: 1 }] }));
    await document.saved();
    expect(await stored(client)).toBe('{"body":"low tide","items":[{"id":"x","n":1}]}');
    await client.execute(`UPDATE page SET content = json_set(content, '$.body', 'high tide')`);
    await until(() => document.current.value?.body === 'high tide');
    expect(bodyOf(document.doc).toJSON()).toBe('high tide');
    await document.close();
  });

  it('keeps what was typed during a write when its page is closed', async () => {
    const leader = await openPage({ body: 'tide' });
    const tab = await openTab({ name: leader.name, schema });
    tabs.push(tab);
    const typed = bodyOf((await tab.client.document<Content>('page', ['p'], 'content')).doc);
    await leader.transaction(async () => {
      typed.insert(0, 'spring ');
      await tab.client.query('SELECT 1'); // The write is sent, and waits for the end of the transaction.
      typed.insert(0, 'low ');
      tab.window.dispatchEvent(new PageTransitionEvent('pagehide'));
      await leader.query('SELECT 1');
    });
    await expect.poll(() => stored(leader)).toBe('{"body":"low spring tide"}');
  });

  it('keeps its own typing and the concurrent writes of others', async () => {
    const client = await openPage({ body: 'low tide' });
    const document = await client.document<Content>('page', ['p'], 'content');
    const typed = bodyOf(document.doc);
    typed.insert(0, 'very ');
    const other = client.execute(`UPDATE page SET content = json_set(content, '$.items', json('[{"id":"x","n":2}]'))`);
    typed.insert(typed.length, '!');
    await Promise.all([other, document.saved()]);
    await until(() => document.current.value?.items !== undefined);
    expect(await stored(client)).toBe('{"body":"very low tide!","items":[{"id":"x","n":2}]}');
    expect(document.current.value).toEqual({ body: 'very low tide!', items: [{ id: 'x', n: 2 }] });
    await document.close();
  });

  it('shows its changes in another tab, and undoes only its own changes', async () => {
    const client = await openPage({ body: 'low tide' });
    const tab = await openTab({ name: client.name, schema });
    tabs.push(tab);
    const mine = await client.document<Content>('page', ['p'], 'content');
    const theirs = await tab.client.document<Content>('page', ['p'], 'content');
    bodyOf(theirs.doc).insert(0, 'their ');
    await until(() => mine.current.value?.body === 'their low tide');
    bodyOf(mine.doc).insert(0, 'my ');
    await until(() => theirs.current.value?.body === 'my their low tide');
    mine.undoManager.undo();
    await until(() => theirs.current.value?.body === 'their low tide');
    expect(mine.current.value).toEqual({ body: 'their low tide' });
    await Promise.all([mine.close(), theirs.close()]);
  });

  it('opens under the longest key, which has no presence', async () => {
    const client = await openPage({ body: 'low tide' });
    const key = 'k'.repeat(2_000);
    await client.execute('UPDATE page SET id = ?', [key]);
    const document = await client.document<Content>('page', [key], 'content');
    document.change((value) => ({ ...value, body: 'high tide' }));
    expect(() => document.awareness).toThrow(expect.objectContaining({ code: 'presence-invalid' }));
    await document.close();
    expect(await stored(client)).toBe('{"body":"high tide"}');
  });

  it('reports what an editor changes after it was closed, and does not write it', async () => {
    const problems: unknown[] = [];
    const client = await openPage({ body: 'low tide' }, ({ code, fields }) => void problems.push([code, fields]));
    const document = await client.document<Content>('page', ['p'], 'content');
    const typed = bodyOf(document.doc);
    await document.close();
    typed.insert(0, 'very ');
    expect(problems).toEqual([['client-closed', { closed: 'document' }]]);
    expect(await stored(client)).toBe('{"body":"low tide"}');
  });

  it('reports that it no longer exists, and is open again when its row comes back', async () => {
    const client = await openPage({ body: 'low tide' });
    const document = await client.document<Content>('page', ['p'], 'content');
    await client.execute('DELETE FROM page');
    await until(() => document.current.state === 'gone');
    expect(document.current.value).toBeNull();
    await expect(client.document('page', ['p'], 'content')).rejects.toMatchObject({ code: 'document-gone' });
    await expect(client.document('page', ['p'], 'title')).rejects.toMatchObject({ code: 'document-unknown' });
    await client.undo();
    await until(() => document.current.state === 'open');
    expect(document.current.value).toEqual({ body: 'low tide' });
    await document.close();
  });

  it('reports why it cannot be written, and retries with the next change', async () => {
    const client = await openPage({ body: 'low tide' });
    const document = await client.document<Content>('page', ['p'], 'content');
    bodyOf(document.doc).insert(0, 'x'.repeat(1024 * 1024));
    await expect(document.saved()).rejects.toMatchObject({ code: 'document-invalid' });
    bodyOf(document.doc).delete(0, 1024 * 1024);
    await document.saved();
    expect(await stored(client)).toBe('{"body":"low tide"}');
    await document.close();
  });
});
