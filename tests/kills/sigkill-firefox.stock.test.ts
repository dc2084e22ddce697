import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { findStockBrowsers } from '../../scripts/browsers/find-stock-browsers.mjs';
import { startFirefox } from '../../scripts/browsers/firefox.mjs';
import { Journal } from './journal.ts';
import { serveJournal } from './journal-server.ts';
import type { JournalServer } from './journal-server.ts';
import { temporaryFolder } from '#kit/temporary-folder.ts';

/** Fewer than for Chromium, because Firefox starts more slowly. ROCKPOOL_KILLS changes it. */
const KILLS = Number(process.env['ROCKPOOL_KILLS'] ?? 20);

const folder = temporaryFolder();
const profile = join(folder, 'profile');
const journal = new Journal();
let server: JournalServer;

beforeAll(async () => {
  mkdirSync(profile);
  server = await serveJournal(() => journal, join(folder, 'page'));
});

afterAll(() => {
  server.close();
});

it(`${KILLS} kills of a stock Firefox whose tabs write in turn lose nothing that was acknowledged, and the next start opens [CT-firefox-kills]`, async () => {
  for (let kill = 0; kill < KILLS; kill += 1) {
    const start = journal.begin();
    const acknowledged = journal.counts.acknowledged;
    const firefox = await startFirefox(findStockBrowsers().firefox, { profile });
    for (const tab of ['a', 'b', 'c'])
      await firefox.openPage(
        `${server.url}/?tab=${tab}&medium=exclusive&start=${start}&seed=${kill}${tab.codePointAt(0)}`,
      );
    const goesOn = await journal.until(
      () => journal.counts.acknowledged > acknowledged + 5 + (kill % 40) || journal.faults.length > 0,
    );
    await firefox.kill();
    expect(journal.faults).toEqual([]);
    expect(goesOn).toBe(true);
  }
  console.log(
    `${KILLS} kills: ${journal.counts.acknowledged} acknowledged commits, ${journal.counts.writerLooks} looks; ${journal.openings()}`,
  );
  expect(journal.firstOpeningsMs.length).toBe(KILLS);
});
