import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { startChromium } from './chromium-process.ts';
import type { ChromiumProcess } from './chromium-process.ts';
import { Journal } from './journal.ts';
import { serveJournal } from './journal-server.ts';
import type { JournalServer } from './journal-server.ts';
import { canMountDisk, SmallDisk } from './small-disk.ts';
import { temporaryFolder } from '#kit/temporary-folder.ts';

/** ROCKPOOL_KILLS reduces the number, for a quick try. */
const KILLS = Number(process.env['ROCKPOOL_KILLS'] ?? 200);
const FULL_DISK_KILLS = Math.ceil(KILLS / 4);
/** A profile and its caches take some 30 MiB. */
const DISK_MIB = 192;
/** Old transactions lose their lines, so that the last kills check no more than the first ones. */
const KEPT_TRANSACTIONS = 100;
const PROGRESS_EVERY = 20;

const folder = temporaryFolder();
let journal = new Journal();
let server: JournalServer;
let chromium: ChromiumProcess | undefined;

beforeAll(async () => {
  server = await serveJournal(() => journal, join(folder, 'page'));
});

beforeEach(() => {
  journal = new Journal();
});

afterEach(() => chromium?.kill());

afterAll(() => {
  server.close();
});

it(
  `${KILLS} kills of a browser whose tabs write and read lose nothing that was acknowledged [CT-kills]`,
  { timeout: 60 * 60_000 },
  async () => {
    const progress = new Progress();
    for (let kill = 0; kill < KILLS; kill += 1) {
      const start = journal.begin();
      const { writerLooks: looks, acknowledged } = journal.counts;
      chromium = startChromium(
        join(folder, 'profile'),
        `${server.url}/?tab=a&also=b&also=c&start=${start}&seed=${kill}&kept=${KEPT_TRANSACTIONS}`,
      );
      // Killed at any moment after its first writer has looked and written: while opening, in a batch, in a WAL
      // checkpoint, between two writers.
      await reached(
        kill,
        () => journal.counts.writerLooks > looks && journal.counts.acknowledged > acknowledged + (kill % 40),
      );
      await new Promise((resolve) => setTimeout(resolve, (kill * 37) % 500));
      await chromium.kill();
      expect(journal.faults).toEqual([]);
      progress.killed();
    }
    console.log(
      `${KILLS} kills: ${journal.counts.acknowledged} acknowledged commits, ${journal.counts.writerLooks} looks as writer, ${journal.counts.readerLooks} as reader, ` +
        `${journal.counts.reads} more reads; ${journal.openings()}; longest read beside a writer ${Math.round(journal.longestReadMs)} ms`,
    );
    expect(journal.firstOpeningsMs.length).toBe(KILLS);
  },
);

it.runIf(canMountDisk)(
  `${FULL_DISK_KILLS} kills of a browser whose disk is full lose nothing that was acknowledged`,
  { timeout: 60 * 60_000 },
  async () => {
    const mounted = join(folder, 'disk');
    mkdirSync(mounted);
    const disk = new SmallDisk(mounted, DISK_MIB);
    const progress = new Progress();
    try {
      for (let kill = 0; kill < FULL_DISK_KILLS; kill += 1) {
        const start = journal.begin();
        const { writerLooks: looks, acknowledged } = journal.counts;
        // Keeps all lines: a database that no longer grows may never find the disk full.
        chromium = startChromium(join(mounted, 'profile'), `${server.url}/?tab=a&also=b&start=${start}&seed=${kill}`);
        await reached(
          kill,
          () => journal.counts.writerLooks > looks && journal.counts.acknowledged > acknowledged + (kill % 20),
        );
        const { full } = journal.counts;
        await reached(kill, () => {
          // After every report, because shortening the log makes room.
          disk.fill();
          return journal.counts.full > full + (kill % 5);
        });
        await chromium.kill();
        disk.empty();
        expect(journal.faults).toEqual([]);
        progress.killed();
      }
      // A late client, with enough space, finds everything.
      const { writerLooks: looks } = journal.counts;
      const start = journal.begin();
      chromium = startChromium(join(mounted, 'profile'), `${server.url}/?tab=z&start=${start}`);
      await reached(FULL_DISK_KILLS, () => journal.counts.writerLooks > looks);
      await chromium.kill();
    } finally {
      disk.remove();
    }
    console.log(
      `${FULL_DISK_KILLS} kills on a full disk: ${journal.counts.acknowledged} acknowledged commits, ${journal.counts.full} that found no room, ${journal.counts.writerLooks} looks as writer; ${journal.openings()}`,
    );
    expect(journal.faults).toEqual([]);
    expect(journal.firstOpeningsMs.length).toBe(FULL_DISK_KILLS + 1);
  },
);

/** Waits for a condition on the reports. Fails after a fault, or if the tabs hang. */
async function reached(kill: number, condition: () => boolean): Promise<void> {
  const isReached = await journal.until(() => condition() || journal.faults.length > 0);
  expect(journal.faults).toEqual([]);
  expect(isReached, `no tab reported anything before kill ${kill}`).toBe(true);
}

/** Prints how long kills take, which shows whether later ones take longer. */
class Progress {
  private kills = 0;
  private sinceMs = performance.now();

  killed(): void {
    this.kills += 1;
    if (this.kills % PROGRESS_EVERY > 0) return;
    const nowMs = performance.now();
    console.log(
      `${this.kills} kills: ${((nowMs - this.sinceMs) / 1000 / PROGRESS_EVERY).toFixed(1)} s each; ${journal.counts.acknowledged} acknowledged commits`,
    );
    this.sinceMs = nowMs;
  }
}
