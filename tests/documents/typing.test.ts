import { afterEach, expect, it } from 'vitest';
import { openDocument } from '#client/document/open-document.ts';
import type { LiveDocument } from '#client/client.ts';
import { decodeRows } from '#client/rpc/rows-transfer.ts';
import { toStatementResult } from '#client/rpc/statement-result.ts';
import type { OpenDatabase } from '#client/worker/database/open-database.ts';
import { connectOver } from '#client/worker/sync/server-connection.ts';
import { webSocketTransport } from '#client/worker/sync/web-socket-transport.ts';
import { createSyncEngine, type SyncEngine } from '#client/worker/sync/sync-engine.ts';
import { toSyncDatabase } from '#client/worker/sync/sync-database.ts';
import { openInMemory } from '#client/testing/worker/test-database.ts';
import { serverUnderTest } from '#sync-server/testing/server-under-test.ts';
import { PAGES, TEST_SCHEMA } from '#sync-server/testing/test-schema.ts';
import { DATABASE } from '#sync-server/testing/test-server.ts';

const tested = serverUnderTest();

type Doc = LiveDocument['doc'];
type Text = ReturnType<Doc['getText']>;

interface Page {
  readonly document: LiveDocument<{ body: string }>;
  readonly text: Text;
}

interface Device {
  readonly database: OpenDatabase;
  readonly engine: SyncEngine;
  /** Opened as the client does, with some ms between page and worker. */
  openPage(): Promise<Page>;
}

const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const shortly = (): Promise<void> => pause(Math.random() * 6);
const patience = { timeout: 3 * 60_000 };

/** A client's database and sync, with the page on the same thread. */
function device(principal: string): Device {
  const database = openInMemory({
    schema: TEST_SCHEMA,
    randomBytes: (count) => crypto.getRandomValues(new Uint8Array(count)),
    nowMs: Date.now,
    elapsedMs: () => performance.now(),
  });
  let tell = (): void => undefined;
  const engine = createSyncEngine({
    url: `ws://${tested.server.host}/sync`,
    databaseId: DATABASE,
    token: () => tested.server.token('editor', principal),
    database: toSyncDatabase({ database, elapsedMs: () => performance.now(), onApplied: () => tell() }),
    connect: connectOver(webSocketTransport),
    onReport: () => undefined,
    onProblem: (error) => expect.unreachable(String(error)),
    onStuck: () => expect.unreachable('stuck'),
  });
  engine.start();
  ends.push(() => {
    engine.stop();
    database.close();
  });
  let requests = 0;
  return {
    database,
    engine,
    async openPage() {
      const sql = `SELECT content AS "text" FROM pages WHERE id = 'n'`;
      const document = await openDocument<{ body: string }>(
        {
          read: async () => {
            await shortly();
            const value = decodeRows(database.query(sql, []))[0]?.['text'] ?? null;
            await shortly();
            return value;
          },
          follow: (listener) => {
            tell = () => setTimeout(listener, Math.random() * 6);
            return () => undefined;
          },
          change: async (changeJson) => {
            await shortly();
            const { results } = database.write({
              id: `c${requests++}`,
              statements: [],
              action: { kind: 'change-document', table: 'pages', key: ['n'], column: 'content', changeJson },
            });
            engine.committed();
            tell();
            const [row] = toStatementResult<{ text: string }>(results[0] as never).rows;
            await shortly();
            return row?.text ?? '';
          },
          history: () => Promise.reject(new Error('not used here')),
          presence: { set: () => undefined, current: [], subscribe: () => () => undefined },
        },
        { table: PAGES, column: 'content' },
      );
      return {
        document,
        text: (document.doc.getMap('json').get('value') as ReturnType<Doc['getMap']>).get('body') as Text,
      };
    },
  };
}

/** As in an editor, the caret moves with changes before it. */
async function type(page: Page, at: number, words: string): Promise<void> {
  let caret = at;
  page.text.observe((event, transaction) => {
    if (transaction.local && transaction.origin === 'typing') return;
    let index = 0;
    for (const { retain, insert, delete: removed } of event.delta) {
      if (retain !== undefined) index += retain;
      else if (typeof insert === 'string') {
        if (index <= caret) caret += insert.length;
        index += insert.length;
      } else if (removed !== undefined && index < caret) caret -= Math.min(removed, caret - index);
    }
  });
  for (const character of words) {
    page.document.doc.transact(() => page.text.insert(caret, character), 'typing');
    caret += 1;
    await pause(Math.random() * 15);
  }
}

/** Two pages on two devices that share one document. */
async function twoPages(body: string): Promise<readonly [Page, Page]> {
  const [ann, ben] = [device('ann'), device('ben')];
  ann.database.write({
    id: 'i',
    statements: [{ sql: `INSERT INTO pages (id, content) VALUES ('n', ?)`, params: [JSON.stringify({ body })] }],
  });
  ann.engine.committed();
  await expect.poll(() => decodeRows(ben.database.query('SELECT 1 FROM pages', [])).length, patience).toBe(1);
  return [await ann.openPage(), await ben.openPage()];
}

const texts = (pages: readonly Page[]): string[] => pages.map(({ text }) => text.toJSON());

it.each([1, 2, 3, 4])('keeps concurrent typing of two people at their positions in both pages (%i)', async () => {
  const pages = await twoPages('Summer');
  await Promise.all([type(pages[0], 6, ' at the lake in June'), type(pages[1], 0, 'Our dear long ')]);
  const expected = 'Our dear long Summer at the lake in June';
  await expect.poll(() => texts(pages), patience).toEqual([expected, expected]);
});

it.each([1, 2])('keeps concurrent typing at one position whole and equal in both pages (%i)', async () => {
  const pages = await twoPages('Summer');
  await Promise.all([type(pages[0], 6, ' ABCDEFGH'), type(pages[1], 6, ' abcdefgh')]);
  const sorted = (text: string): string => text.split('').sort().join('');
  await expect
    .poll(() => texts(pages).map(sorted), patience)
    .toEqual(Array(2).fill(sorted('Summer ABCDEFGH abcdefgh')));
  await expect.poll(() => new Set(texts(pages)).size, patience).toBe(1);
});
