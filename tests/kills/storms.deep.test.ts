import { join } from 'node:path';
import { chromium } from 'playwright';
import type { BrowserContext, Page } from 'playwright';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { findChromium } from '../../scripts/find-chromium.mjs';
import { Journal } from './journal.ts';
import { serveJournal } from './journal-server.ts';
import type { JournalServer } from './journal-server.ts';
import { temporaryFolder } from '#kit/temporary-folder.ts';

// Disturbances of tabs short of killing the browser. Each test has its own database; a page's parameters say what its
// worker does.

const folder = temporaryFolder();
let journal = new Journal();
let server: JournalServer;
let context: BrowserContext;
let database = 0;

beforeAll(async () => {
  server = await serveJournal(() => journal, join(folder, 'page'));
  const executablePath = findChromium('complete');
  context = await chromium.launchPersistentContext(join(folder, 'profile'), {
    args: ['--no-sandbox'],
    ...(executablePath === undefined ? {} : { executablePath }),
  });
});

beforeEach(() => {
  journal = new Journal();
  database += 1;
});

afterAll(async () => {
  await context.close();
  server.close();
});

async function openTab(tab: string, parameters: Readonly<Record<string, string>> = {}): Promise<Page> {
  const page = await context.newPage();
  const query = new URLSearchParams({
    tab,
    database: `storm-${database}`,
    seed: String(tab.codePointAt(0)),
    ...parameters,
  });
  await page.goto(`${server.url}/?${query}`);
  return page;
}

/** Waits for this many more commits; false if none arrive. */
function moreCommits(count: number): Promise<boolean> {
  const until = journal.counts.acknowledged + count;
  return journal.until(() => journal.counts.acknowledged >= until);
}

async function closeAll(pages: readonly Page[]): Promise<void> {
  for (const page of pages) await page.close();
}

/** Opens one more tab, which must find everything. */
async function lookOnceMore(): Promise<void> {
  const looks = journal.counts.writerLooks;
  const last = await openTab('z');
  expect(await journal.until(() => journal.counts.writerLooks > looks)).toBe(true);
  await last.close();
  console.log(
    `${journal.counts.acknowledged} acknowledged commits, ${journal.counts.writerLooks} looks as writer, ${journal.counts.readerLooks} as reader, longest read ${Math.round(journal.longestReadMs)} ms`,
  );
  expect(journal.faults.slice(0, 5)).toEqual([]);
}

it('four tabs that open a new database at once share one database [CT-fresh]', async () => {
  const pages = await Promise.all(['a', 'b', 'c', 'd'].map((tab) => openTab(tab)));
  expect(await journal.until(() => Object.keys(journal.acknowledged).length === 4)).toBe(true);
  await closeAll(pages);
  await lookOnceMore();
});

it('reloads and closed tabs lose nothing at any moment, even within large batches [CT-storms]', async () => {
  const names = ['a', 'b', 'c'];
  const pages = await Promise.all(names.map((tab) => openTab(tab)));
  for (let round = 0; round < 30; round += 1) {
    const victim = round % pages.length;
    if (round % 3 === 2) {
      await pages[victim]!.close({ runBeforeUnload: false });
      pages[victim] = await openTab(names[victim]!, { seed: String(round) });
    } else {
      // Reloads twice in a row: the second time hits a worker that has just started.
      await pages[victim]!.reload();
      await pages[victim]!.reload();
    }
    expect(await moreCommits(3 + (round % 23))).toBe(true);
  }
  await closeAll(pages);
  await lookOnceMore();
});

it('a reader that is suspended for a long time blocks no other tab, and continues when it is resumed [CT-frozen]', async () => {
  const writers = await Promise.all(['a', 'b'].map((tab) => openTab(tab)));
  expect(await moreCommits(5)).toBe(true);
  const reader = await openTab('r', { only: 'reader' });
  expect(await journal.until(() => journal.counts.readerLooks > 3)).toBe(true);
  const devTools = await context.newCDPSession(reader);
  await devTools.send('Page.setWebLifecycleState', { state: 'frozen' });
  for (let part = 0; part < 10; part += 1) expect(await moreCommits(20)).toBe(true);
  await devTools.send('Page.setWebLifecycleState', { state: 'active' });
  const looks = journal.counts.readerLooks;
  expect(await journal.until(() => journal.counts.readerLooks > looks + 3)).toBe(true);
  await closeAll([...writers, reader]);
  await lookOnceMore();
});

it('lost, doubled or reordered broadcasts only cost time [CT-broadcasts]', async () => {
  const pages = await Promise.all(['a', 'b', 'c'].map((tab) => openTab(tab, { broadcasts: 'disturbed' })));
  for (let part = 0; part < 10; part += 1) expect(await moreCommits(20)).toBe(true);
  await closeAll(pages);
  await lookOnceMore();
});

it('an exhausted quota fails only the transactions that do not fit, and everything works once there is space [CT-quota]', async () => {
  const pages = await Promise.all(['a', 'b'].map((tab) => openTab(tab)));
  expect(await moreCommits(10)).toBe(true);
  const devTools = await context.newCDPSession(pages[0]!);
  const origin = new URL(server.url).origin;
  for (const roomBytes of [200_000, 0, 50_000]) {
    const { usage } = await devTools.send('Storage.getUsageAndQuota', { origin });
    await devTools.send('Storage.overrideQuotaForOrigin', { origin, quotaSize: usage + roomBytes });
    const full = journal.counts.full;
    expect(await journal.until(() => journal.counts.full > full + 5 || journal.faults.length > 0)).toBe(true);
    await devTools.send('Storage.overrideQuotaForOrigin', { origin });
    expect(await moreCommits(30)).toBe(true);
  }
  await closeAll(pages);
  await lookOnceMore();
});
