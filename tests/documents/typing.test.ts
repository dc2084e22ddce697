import { afterEach, expect, it } from 'vitest';
import type { LiveDocument } from '#client/interface/live-document.ts';
import { serverUnderTest } from '#sync-server/testing/server-under-test.ts';
import { PAGES, TEST_SCHEMA } from '#sync-server/testing/test-schema.ts';
import { openDocumentOn } from '#kit/open-document-on.ts';
import { SocketDevice } from '#kit/socket-device.ts';
import { inMemory } from '#kit/test-device.ts';

const tested = serverUnderTest();

type Doc = LiveDocument['doc'];
type Text = ReturnType<Doc['getText']>;

interface Page {
  readonly document: LiveDocument<{ body: string }>;
  readonly text: Text;
}

const devices: SocketDevice[] = [];
afterEach(async () => {
  for (const device of devices.splice(0)) {
    await device.close();
    expect(device.problems).toEqual([]);
  }
});

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const shortly = (): Promise<void> => pause(Math.random() * 6);

function startDevice(principal: string): SocketDevice {
  const device = new SocketDevice({ server: () => tested.server, opened: inMemory({ schema: TEST_SCHEMA }) });
  device.principal = principal;
  device.start();
  devices.push(device);
  return device;
}

/** Opens the document as the client does, with a few milliseconds of latency between page and worker. */
async function openPage(device: SocketDevice): Promise<Page> {
  let notify = (): void => undefined;
  device.onApplied = () => notify();
  const document = await openDocumentOn<{ body: string }>(device, {
    table: PAGES,
    key: 'n',
    column: 'content',
    delay: shortly,
    follow: (listener) => {
      notify = () => setTimeout(listener, Math.random() * 6);
      return () => undefined;
    },
    onChange: () => notify(),
  });
  const root = document.doc.getMap('json').get('value') as ReturnType<Doc['getMap']>;
  return { document, text: root.get('body') as Text };
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
  const [ann, ben] = [startDevice('ann'), startDevice('ben')];
  ann.write(`INSERT INTO pages (id, content) VALUES ('n', ?)`, JSON.stringify({ body }));
  await ben.until(() => ben.rows('SELECT 1 FROM pages').length === 1);
  return [await openPage(ann), await openPage(ben)];
}

const texts = (pages: readonly Page[]): string[] => pages.map(({ text }) => text.toJSON());

it.each([1, 2, 3, 4])('text that two people type concurrently keeps its positions in both pages (%i)', async () => {
  const pages = await twoPages('Summer');
  await Promise.all([type(pages[0], 6, ' at the lake in June'), type(pages[1], 0, 'Our dear long ')]);
  const expected = 'Our dear long Summer at the lake in June';
  await expect.poll(() => texts(pages)).toEqual([expected, expected]);
});

it.each([1, 2])('concurrent typing at one position loses no letter and ends equal in both pages (%i)', async () => {
  const pages = await twoPages('Summer');
  await Promise.all([type(pages[0], 6, ' ABCDEFGH'), type(pages[1], 6, ' abcdefgh')]);
  const sorted = (text: string): string => text.split('').sort().join('');
  await expect.poll(() => texts(pages).map(sorted)).toEqual(Array(2).fill(sorted('Summer ABCDEFGH abcdefgh')));
  await expect.poll(() => new Set(texts(pages)).size).toBe(1);
});
