import type { Client } from '#client/index.ts';
import { createClient, inProcess } from '#client/node/index.ts';
import { defineSchema } from '#client/schema/index.ts';
import { temporaryFolder } from '#kit/temporary-folder.ts';
import { createSyncServer, type SyncServer } from '#sync-server/index.ts';
import { sqliteTable, text } from '../../packages/client/node_modules/drizzle-orm/sqlite-core/index.js';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

interface Content {
  readonly body: string;
}

const page = sqliteTable('page', { id: text().primaryKey(), title: text(), content: text() });
const schema = defineSchema(
  { page },
  { history: [page], merge: [{ table: page, documents: [{ column: page.content, text: ['body'] }] }] },
);
const MINUTE_MS = 60_000;

let nowMs: number;
let server: SyncServer;
const clients: Client[] = [];
beforeEach(async () => {
  nowMs = Date.now();
  server = createSyncServer({
    dataDir: temporaryFolder(),
    schema,
    secret: 'a secret of this test, long enough',
    now: () => nowMs,
    log: () => undefined,
  });
  await server.ready();
});
afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.close()));
  await server.close();
});

async function open(principal: string): Promise<Client> {
  const client = await createClient({
    name: 'pages',
    schema,
    sync: {
      url: 'ws://in-process',
      transport: inProcess(server),
      databaseId: 'pages',
      principal,
      token: () => server.issueToken({ principal, databases: ['pages'], ttlMs: 600 * MINUTE_MS }),
    },
  });
  clients.push(client);
  return client;
}

async function write(client: Client, body: string): Promise<void> {
  await client.execute('UPDATE page SET content = ?', [JSON.stringify({ body })]).synced;
}

/** Resolves once the device has this text. */
async function shows(client: Client, body: string): Promise<void> {
  const live = client.live<{ body: string }>("SELECT content ->> 'body' AS body FROM page");
  for await (const { rows } of live) if (rows[0]?.body === body) return;
}

describe('the history of a document', () => {
  it('has the edits of one author without a pause as one version, each with its JSON and its differences', async () => {
    const [ann, bob] = [await open('ann'), await open('bob')];
    await ann.execute('INSERT INTO page (id, content) VALUES (\'p\', \'{"body":"We"}\')').synced;
    for (const body of ['We meet', 'We meet on', 'We meet on Monday.']) await write(ann, body);
    await ann.execute("UPDATE page SET title = 'Plan'").synced;
    await shows(bob, 'We meet on Monday.');
    nowMs += MINUTE_MS;
    await write(bob, 'We meet on Friday.');
    nowMs += 10 * MINUTE_MS;
    await write(bob, 'We meet on Friday, at noon.');
    await shows(ann, 'We meet on Friday, at noon.');

    const document = await ann.document<Content>('page', 'p', 'content');
    const history = await document.history();
    const { versions, next, isTruncated } = await history.page();
    expect(versions.map(({ author, kind, count }) => `${author} ${kind} ${count}`)).toEqual([
      'bob update 1',
      'bob update 1',
      'ann insert 4',
    ]);
    expect({ next, isTruncated }).toEqual({ next: null, isTruncated: false });
    const [last, friday, monday] = versions.map(({ version }) => version as number) as [number, number, number];
    expect(await history.at(monday)).toEqual({ body: 'We meet on Monday.' });
    expect(await history.at(last)).toEqual({ body: 'We meet on Friday, at noon.' });
    expect(await history.diff(monday, friday)).toMatchObject([
      { op: 'replace', path: '/body', text: [{ at: 11, removed: 'Mon', inserted: 'Fri' }] },
    ]);
    expect(await history.diff(last, last)).toEqual([]);

    await history.restore(monday);
    await shows(ann, 'We meet on Monday.');
    await history.restore(last);
    await shows(ann, 'We meet on Friday, at noon.');
    await document.close();
  });

  it('is paged by whole versions', async () => {
    const ann = await open('ann');
    await ann.execute('INSERT INTO page (id, content) VALUES (\'p\', \'{"body":"0"}\')').synced;
    for (let i = 1; i <= 6; i++) {
      if (i % 2 === 1) nowMs += 10 * MINUTE_MS;
      await write(ann, String(i));
    }
    const history = (await ann.history('page', 'p')).document('content');
    const first = await history.page({ limit: 2 });
    expect(first.versions.map(({ count }) => count)).toEqual([2, 2]);
    const second = await history.page({ limit: 2, ...(first.next !== null && { before: first.next }) });
    expect(second.versions.map(({ count, kind }) => `${kind} ${count}`)).toEqual(['update 2', 'insert 1']);
    expect(second.next).toBeNull();
  });

  it('has every version of a document that the server compacts', async () => {
    const ann = await open('ann');
    const body = Array.from({ length: 400 }, (_, i) => `Line ${i} of a long text that is edited. `).join('');
    await ann.execute('INSERT INTO page (id, content) VALUES (?, ?)', ['p', JSON.stringify({ body })]).synced;
    const texts = [body];
    for (let i = 1; i <= 20; i++) {
      const next = body.replaceAll(/.{1,40}/g, (line) => '#'.repeat(i) + line.slice(i));
      texts.push(next);
      await write(ann, next);
    }
    const row = await ann.history('page', 'p');
    const { versions } = await row.page({ limit: 200 });
    const found = await Promise.all(
      versions.map(async ({ version }) => (await row.document<Content>('content').at(version as number))?.body),
    );
    expect(found.reverse().map((text, i) => text === texts[i])).toEqual(texts.map(() => true));
  });

  it('rejects columns that are no documents, and versions without a document', async () => {
    const ann = await open('ann');
    await ann.execute("INSERT INTO page (id) VALUES ('p')").synced;
    const row = await ann.history('page', 'p');
    expect(() => row.document('title')).toThrow(expect.objectContaining({ code: 'document-unknown' }));
    const history = row.document('content');
    expect(await history.at(1)).toBeNull();
    await expect(history.restore(1)).rejects.toMatchObject({ code: 'document-gone' });
    await expect(history.at(7)).rejects.toMatchObject({ code: 'history-version-gone' });
  });
});
