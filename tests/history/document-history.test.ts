import type { Client } from '#client/index.ts';
import { defineSchema } from '#client/schema/index.ts';
import { shows, useClientsOfServer } from '#kit/clients-of-server.ts';
import { sqliteTable, text } from '../../packages/client/node_modules/drizzle-orm/sqlite-core/index.js';
import { describe, expect, it } from 'vitest';

interface Content {
  readonly body: string;
}

const page = sqliteTable('page', { id: text().primaryKey(), title: text(), content: text() });
const schema = defineSchema(
  { page },
  { history: [page], merge: [{ table: page, documents: [{ column: page.content, text: ['body'] }] }] },
);
const MINUTE_MS = 60_000;

const world = useClientsOfServer({ schema });
const open = (principal: string): Promise<Client> => world.open({ principal });

async function write(client: Client, body: string): Promise<void> {
  await client.execute('UPDATE page SET content = ?', [JSON.stringify({ body })]).synced;
}

const showsBody = (client: Client, body: string): Promise<void> =>
  shows(client, "SELECT content ->> 'body' FROM page", body);

describe('the history of a document', () => {
  it('combines the edits of one author without a pause into one version, with its JSON and its differences', async () => {
    const [ann, bob] = [await open('ann'), await open('bob')];
    await ann.execute('INSERT INTO page (id, content) VALUES (\'p\', \'{"body":"We"}\')').synced;
    for (const body of ['We meet', 'We meet on', 'We meet on Monday.']) await write(ann, body);
    await ann.execute("UPDATE page SET title = 'Plan'").synced;
    await showsBody(bob, 'We meet on Monday.');
    world.nowMs += MINUTE_MS;
    await write(bob, 'We meet on Friday.');
    world.nowMs += 10 * MINUTE_MS;
    await write(bob, 'We meet on Friday, at noon.');
    await showsBody(ann, 'We meet on Friday, at noon.');

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
    await showsBody(ann, 'We meet on Monday.');
    await history.restore(last);
    await showsBody(ann, 'We meet on Friday, at noon.');
    await document.close();
  });

  it('separates edits that are not sent yet from those that can be read from the server', async () => {
    const ann = await open('ann');
    await ann.execute('INSERT INTO page (id, content) VALUES (\'p\', \'{"body":"We"}\')').synced;
    await write(ann, 'We meet');
    await ann.sync.pause();
    await ann.execute('UPDATE page SET content = ?', [JSON.stringify({ body: 'We meet on Monday.' })]);
    const history = (await ann.history('page', 'p')).document<Content>('content');
    const { versions } = await history.page();
    expect(versions.map(({ version, count }) => [version === null, count])).toEqual([
      [true, 1],
      [false, 2],
    ]);
    expect(await history.at(versions[1]?.version ?? 0)).toEqual({ body: 'We meet' });
    const first = await history.page({ limit: 1 });
    expect(first.versions).toEqual(versions.slice(0, 1));
    expect((await history.page({ before: first.next ?? 0 })).versions).toEqual(versions.slice(1));
  });

  it('is paged by whole versions', async () => {
    const ann = await open('ann');
    await ann.execute('INSERT INTO page (id, content) VALUES (\'p\', \'{"body":"0"}\')').synced;
    for (let i = 1; i <= 6; i++) {
      if (i % 2 === 1) world.nowMs += 10 * MINUTE_MS;
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

  it('restores one part of the document, and leaves the rest unchanged', async () => {
    const ann = await open('ann');
    const contentOf = async (): Promise<unknown> =>
      JSON.parse((await ann.query<{ content: string }>('SELECT content FROM page'))[0]?.content ?? 'null');
    const set = async (content: unknown): Promise<void> => {
      await ann.execute('UPDATE page SET content = ?', [JSON.stringify(content)]).synced;
    };
    await ann.execute(
      'INSERT INTO page (id, content) VALUES (\'p\', \'{"body":"one","tags":["a"],"style":{"bold":true}}\')',
    ).synced;
    await set({ body: 'two', tags: ['a', 'b'], style: { bold: false, size: 12 }, extra: 1 });
    const history = (await ann.history('page', 'p')).document<Content>('content');
    await history.restore(1, { path: ['style', 'bold'] });
    expect(await contentOf()).toEqual({ body: 'two', tags: ['a', 'b'], style: { bold: true, size: 12 }, extra: 1 });
    await history.restore(1, { path: ['tags', 1] });
    await history.restore(1, { path: ['extra'] });
    expect(await contentOf()).toEqual({ body: 'two', tags: ['a'], style: { bold: true, size: 12 } });
    await set({ body: 'two' });
    await expect(history.restore(1, { path: ['style', 'bold'] })).rejects.toMatchObject({
      code: 'document-place-missing',
    });
    await history.restore(1, { path: ['style'] });
    expect(await contentOf()).toEqual({ body: 'two', style: { bold: true } });
    await ann.execute('UPDATE page SET content = NULL').synced;
    await expect(history.restore(1, { path: ['style'] })).rejects.toMatchObject({ code: 'document-gone' });
    await ann.execute('DELETE FROM page').synced;
    await expect(history.restore(1, { path: ['style'] })).rejects.toMatchObject({ code: 'row-missing' });
  });

  it('rejects columns that are not documents, and versions without a document', async () => {
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
