import { join } from 'node:path';
import { buildSchema, DEFAULT_DOCUMENT_RULE, type CellValue } from '@rockpool/shared';
import { createDocument, editDocument, encodeDocumentCell, type JsonObject } from '@rockpool/shared/document';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { insert, remove, toBody, update, type Change } from '../../testing/changeset.ts';
import { DirectSession } from '../../testing/direct-session.ts';
import { Replica } from '../../testing/replica.ts';
import { serverUnderTest } from '../../testing/server-under-test.ts';
import { DATABASE } from '../../testing/test-server.ts';
import type { TestConnection } from '../../testing/test-client.ts';
import { PAGES } from '../../testing/test-schema.ts';
import { temporaryFolder } from '../../../../tests/kit/temporary-folder.ts';
import { LiveDatabase } from '../database/live-database.ts';
import { ownSite } from '../database/own-site.ts';
import { openDatabaseFile } from '../store/database-file.ts';

const RULE = { ...DEFAULT_DOCUMENT_RULE, text: ['body'], richText: ['note'] };
const DAY_MS = 24 * 3600 * 1000;
const SCHEMA = buildSchema([{ ...PAGES, merge: { ...PAGES.merge, deleteRule: 'update-wins' } }]);
let nowMs = 0;
beforeEach(() => {
  nowMs = Date.UTC(2026, 0, 1);
});
const tested = serverUnderTest({
  schema: SCHEMA,
  now: () => nowMs,
  retention: { tombstonesMs: DAY_MS },
  authenticate: async (name) => ({ id: name, databases: [DATABASE], role: 'editor', expiresAtMs: Infinity }),
});

async function open(principal: string): Promise<TestConnection> {
  const connection = await tested.server.connect();
  connection.hello(principal, DATABASE, { schemaHash: SCHEMA.hash });
  connection.site.logEpoch = (await connection.next('welcome')).logEpoch;
  await connection.delivery();
  return connection;
}

function edit(state: CellValue, title: string, { site: { siteId } }: TestConnection): ReturnType<typeof editDocument> {
  return editDocument(state, { title }, RULE, { site: Buffer.from(siteId).toString('hex'), generation: 1 });
}

const authors = (): unknown => tested.server.query('SELECT count(*) FROM rockpool_document_author')[0]?.[0];

describe('the authors of a document', () => {
  async function deletedAfterAnEdit(): Promise<{
    readonly a: TestConnection;
    readonly b: TestConnection;
    readonly start: CellValue;
  }> {
    const [a, b] = [await open('ann'), await open('ben')];
    const start = createDocument({ title: 'old' }, RULE);
    await a.commit([
      insert('pages', 'p', { title: 'p', content: encodeDocumentCell({ kind: 'content', json: '{"title":"old"}' }) }),
    ]);
    await b.delivery();
    b.site.write([update('pages', 'p', { content: edit(start, 'ben', b).edit })]);
    await a.commit([update('pages', 'p', { content: edit(start, 'ann', a).edit })]);
    await a.commit([remove('pages', 'p')]);
    return { a, b, start };
  }

  it('are kept if the document is restored with its row [MR-78]', async () => {
    const { b } = await deletedAfterAnEdit();
    b.push();
    await b.decided(1);
    const [[title] = []] = tested.server.query(`SELECT content ->> 'title' FROM pages`);
    const conflicts = tested.server.query(`SELECT lost_by, won_by FROM rockpool_conflict WHERE path IS NOT NULL`);
    expect(conflicts).toEqual([title === 'ann' ? ['ben', 'ann'] : ['ann', 'ben']]);
  });

  it('stay with the document that they edited if the edit that restores its row compacts it [MR-78]', async () => {
    const live = new LiveDatabase(openDatabaseFile(':memory:', SCHEMA), { onFailure: () => undefined });
    const write = (principal: string, change: Change): Promise<unknown> =>
      live.write(toBody([change]), principal, nowMs);
    // Each character that is inserted alone is an operation, which takes several times the size of the character.
    const tide = (edits: number): string => 't-i-d-e-'.repeat(45 * edits) + 'tide'.repeat(45 * (5 - edits));
    const content = { body: tide(0), title: 'old' };
    const start = createDocument(content, RULE);
    const json = JSON.stringify(content);
    await write('ann', insert('pages', 'p', { title: 'p', content: encodeDocumentCell({ kind: 'content', json }) }));
    live.file.sql.run('UPDATE rockpool_document SET compact_above = ?', BigInt(Number.MAX_SAFE_INTEGER));
    const late = [
      new DirectSession(live, new Replica(), nowMs),
      new DirectSession(live, new Replica(), nowMs),
    ] as const;
    for (const session of late) session.applyAll();
    const site = ownSite(live.file);
    let edited = editDocument(start, { ...content, title: 'ann' }, RULE, { site, generation: 1 });
    await write('ann', update('pages', 'p', { content: edited.edit }));
    for (let edits = 1; edits <= 5; edits++) {
      edited = editDocument(edited.state, { body: tide(edits), title: 'ann' }, RULE, { site, generation: 1 + edits });
      await write('bob', update('pages', 'p', { content: edited.edit }));
    }
    await write('bob', remove('pages', 'p'));
    for (const [i, session] of late.entries()) {
      const changed = i === 0 ? { ...content, more: true } : { ...content, title: 'cid' };
      const { edit } = editDocument(start, changed, RULE, { site: session.site, generation: 1 });
      session.replica.write([update('pages', 'p', { content: edit })]);
      session.push(1, 1, nowMs);
      live.settle();
      expect(live.file.sql.all('SELECT count(*) FROM rockpool_document_replaced')).toEqual([[1n]]);
    }
    const [[lost, won] = []] = live.file.sql.all(
      `SELECT lost_by, won_by FROM rockpool_conflict WHERE path = '["title"]'`,
    );
    expect(new Set([lost, won])).toEqual(new Set(['ann', late[1].site.slice(0, 4)]));
    await live.close();
  });

  it('are read once for all conflicts of an edit', async () => {
    const live = new LiveDatabase(openDatabaseFile(join(temporaryFolder(), 'a.sqlite'), SCHEMA), {
      onFailure: (error) => {
        throw error;
      },
    });
    try {
      const write = (change: Change): Promise<unknown> => live.write(toBody([change]), 'ann', nowMs);
      const members = (value: number): JsonObject =>
        Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`m${n}`, value]));
      const start = createDocument(members(0), RULE);
      const site = ownSite(live.file);
      const editAll = (value: number): CellValue =>
        editDocument(start, members(value), RULE, { site, generation: value }).edit;
      const json = JSON.stringify(members(0));
      await write(insert('pages', 'p', { title: 'p', content: encodeDocumentCell({ kind: 'content', json }) }));
      await write(update('pages', 'p', { content: editAll(1) }));
      const read = vi.spyOn(live.file.sql, 'all');
      await write(update('pages', 'p', { content: editAll(2) }));
      expect(read.mock.calls.filter(([sql]) => sql.startsWith('SELECT watermark, yjs'))).toHaveLength(1);
      expect(live.file.sql.all('SELECT DISTINCT lost_by, won_by, count(*) FROM rockpool_conflict')).toEqual([
        ['ann', 'ann', 20n],
      ]);
    } finally {
      await live.close();
    }
  });

  it('are deleted with the row’s tombstone', async () => {
    const { a } = await deletedAfterAnEdit();
    expect(authors()).toBe(1n);
    nowMs += 2 * DAY_MS;
    await a.commit([insert('pages', 'other', { title: 'other', content: null })]);
    expect(authors()).toBe(0n);
  });
});
