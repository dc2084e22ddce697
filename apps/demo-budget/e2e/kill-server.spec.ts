import type { Page } from 'playwright/test';
import type { DemoServer } from './harness/demo-server.ts';
import { expect, test, type Person } from './harness/test.ts';
import { serverDatabase, type ServerDatabase } from './harness/server-database.ts';
import { addAccount, expectBalance, openAccount } from './steps/accounts.ts';
import { shareLink } from './steps/navigation.ts';
import { expectUpToDate, syncBadge } from './steps/sync.ts';

const entriesPerRound = 2_000;
const entriesPerTransaction = 10;
const transactionsPerRound = entriesPerRound / entriesPerTransaction;

/** With notes of this length a round is about 600 kB on the wire, so it goes up as several pushes. */
const notesLength = 200;

/**
 * Where each kill falls. Four into the sending of what was written without a network: within the first push, while later ones are under way, and between the
 * server's commits. The last into writes that are sent as they come.
 */
const kills = [
  { name: 'within the first push', when: { bytesUp: 40_000 } },
  { name: 'within the second push', when: { bytesUp: 300_000 } },
  { name: 'within the third push', when: { bytesUp: 540_000 } },
  { name: 'after a first commit of the backlog', when: { entriesStored: 1 } },
  { name: 'while writes are sent as they come', when: { entriesStored: 300 }, online: true },
] as const;

test('every acknowledged write is there once after the server was killed during a push of 2,000 entries, five times', async ({ newPerson, server }) => {
  test.setTimeout(240_000);
  const anna = await newPerson();
  const { page } = anna;
  await addAccount(page, { name: 'Cash', currency: 'EUR' });
  await expectUpToDate(page);
  const link = await shareLink(page);
  const stored = serverDatabase(server.dataFolder, link);
  const firstWatermark = Number(stored.value('SELECT max(watermark) FROM rockpool_log'));

  for (const [index, kill] of kills.entries()) {
    await test.step(kill.name, async () => {
      const storedBefore = entriesPerRound * index;
      const online = 'online' in kill;
      if (!online) await anna.goOffline();
      const written = writeEntries(page, index);
      if (!online) await written;
      const killed =
        'bytesUp' in kill.when ? killAfterBytes(anna, server, kill.when.bytesUp) : killAfterEntries(stored, server, storedBefore + kill.when.entriesStored);
      if (!online) await anna.goOnline();
      await killed;
      await written;

      // What this device takes for sent is stored, whatever became of the server since.
      const acknowledged = transactionsPerRound - (await waitingCount(page));
      expect(entryCount(stored)).toBeGreaterThanOrEqual(storedBefore + acknowledged * entriesPerTransaction);
      expect(entryCount(stored)).toBeLessThan(storedBefore + entriesPerRound);

      await server.start();
      await expectUpToDate(page);
      const together = storedBefore + entriesPerRound;
      expect(stored.rows('SELECT count(*) AS entries, count(DISTINCT payee) AS payees, sum(amountMinor) AS sum FROM entries')).toEqual([
        { entries: together, payees: together, sum: -together },
      ]);
      // However often a transaction was sent, it has one place in the log.
      expect(stored.value('SELECT max(watermark) FROM rockpool_log')).toBe(firstWatermark + transactionsPerRound * (index + 1));
    });
  }

  expect(stored.value('PRAGMA integrity_check')).toBe('ok');
  const ben = await newPerson({ link });
  await openAccount(ben.page, 'Cash');
  await expectBalance(ben.page, '-€100.00', `${entriesPerRound * kills.length} entries`);
});

/** Writes a round's entries, a transaction after the other; resolves when all have resolved. */
async function writeEntries(page: Page, round: number): Promise<void> {
  await page.evaluate(
    async ({ roundInPage, transactions, size, notes }) => {
      const [account] = await rockpool.query<{ id: string }>('SELECT id FROM accounts');
      for (let transaction = 0; transaction < transactions; transaction++) {
        await rockpool.batch(
          Array.from({ length: size }, (_, entry) => ({
            sql: 'INSERT INTO entries (id, accountId, date, payee, notes, amountMinor, enteredAtMs) VALUES (?, ?, ?, ?, ?, ?, ?)',
            params: [rockpool.newId(), account?.id ?? '', '2025-06-01', `Entry ${roundInPage}-${transaction}-${entry}`, notes, -1, Date.now()],
          })),
        );
      }
    },
    { roundInPage: round, transactions: transactionsPerRound, size: entriesPerTransaction, notes: 'n'.repeat(notesLength) },
  );
}

function killAfterBytes({ gateway }: Person, server: DemoServer, byteCount: number): Promise<void> {
  return new Promise((resolve, reject) => {
    gateway.afterSyncBytesUp(gateway.syncBytesUp + byteCount, () => {
      server.kill('SIGKILL').then(resolve, reject);
    });
  });
}

async function killAfterEntries(stored: ServerDatabase, server: DemoServer, count: number): Promise<void> {
  await expect.poll(() => entryCount(stored), { intervals: [2], timeout: 60_000 }).toBeGreaterThanOrEqual(count);
  await server.kill('SIGKILL');
}

function entryCount(stored: ServerDatabase): number {
  return Number(stored.value('SELECT count(*) FROM entries'));
}

/** How many transactions wait to be sent, as the badge says it once the connection is known to be lost. */
async function waitingCount(page: Page): Promise<number> {
  await expect(syncBadge(page)).toHaveText(/^(Offline|Connecting)/);
  const text = await syncBadge(page).innerText();
  return Number(/· (\d+) to send/.exec(text)?.[1] ?? 0);
}
