import type { Page } from 'playwright/test';
import { expect, test, type Person } from './harness/test.ts';
import { serverDatabase, type ServerDatabase } from './harness/server-database.ts';
import { addAccount, expectBalance, openAccount } from './steps/accounts.ts';
import { shareLink } from './steps/navigation.ts';
import { expectUpToDate, syncBadge } from './steps/sync.ts';

const entriesPerRound = 2_000;
const entriesPerTransaction = 10;
const transactionsPerRound = entriesPerRound / entriesPerTransaction;

/**
 * With random notes of this length, which hardly pack, a round goes up as three pushes of about 180, 180 and 140 kB.
 */
const notesLength = 270;

/**
 * Where each kill falls: in the sending of what was written without a network, within the first push or with others
 * under way, or when the first acknowledgement has arrived; and in writes that are sent as they come.
 */
const kills: readonly Kill[] = [
  { name: 'within the first push', after: { bytesUp: 40_000 } },
  { name: 'within the second push', after: { bytesUp: 260_000 } },
  { name: 'within the third push', after: { bytesUp: 430_000 } },
  { name: 'at the first acknowledgement', after: 'acknowledgement' },
  { name: 'while writes are sent as they come', after: { bytesUp: 100_000 }, online: true },
];

interface Kill {
  readonly name: string;
  /** Of what goes up, the bytes after the mark never arrive, so the server cannot have stored all. */
  readonly after: { readonly bytesUp: number } | 'acknowledgement';
  readonly online?: true;
}

test('every acknowledged write is there once after the server was killed during a push of 2,000 entries, five times', async ({
  newPerson,
  server,
}) => {
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
      let due: Promise<void>;
      let written: Promise<void>;
      if (kill.online === true) {
        due = killIsDue(kill, anna);
        written = writeEntries(page, index);
      } else {
        await anna.goOffline();
        written = writeEntries(page, index);
        await written;
        due = killIsDue(kill, anna);
        await anna.goOnline();
      }
      await due;
      await server.kill('SIGKILL');
      await written;

      // What this device takes for sent is stored, whatever became of the server since.
      const acknowledged = transactionsPerRound - (await waitingCount(page));
      const storedNow = entryCount(stored) - storedBefore;
      expect(storedNow).toBeGreaterThanOrEqual(acknowledged * entriesPerTransaction);
      // The stroke fell where it was meant to.
      if (kill.after === 'acknowledgement') expect(acknowledged).toBeGreaterThan(0);
      else expect(storedNow).toBeLessThan(entriesPerRound);

      await server.start();
      await expectUpToDate(page);
      const together = storedBefore + entriesPerRound;
      expect(
        stored.rows(
          'SELECT count(*) AS entries, count(DISTINCT payee) AS payees, sum(amountMinor) AS sum FROM entries',
        ),
      ).toEqual([{ entries: together, payees: together, sum: -together }]);
      // However often a transaction was sent, it has one place in the log.
      expect(stored.value('SELECT max(watermark) FROM rockpool_log')).toBe(
        firstWatermark + transactionsPerRound * (index + 1),
      );
    });
  }

  expect(stored.value('PRAGMA integrity_check')).toBe('ok');
  const ben = await newPerson({ link });
  await openAccount(ben.page, 'Cash');
  await expectBalance(ben.page, '-€100.00', `${(entriesPerRound * kills.length).toLocaleString('en')} entries`);
});

/** Writes a round's entries, a transaction after the other; resolves when all have resolved. */
async function writeEntries(page: Page, round: number): Promise<void> {
  await page.evaluate(
    async ({ roundInPage, transactions, size, notesSize }) => {
      const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
      const randomText = (length: number): string =>
        Array.from(crypto.getRandomValues(new Uint8Array(length)), (byte) => letters[byte % letters.length]).join('');
      const [account] = await rockpool.query<{ id: string }>('SELECT id FROM accounts');
      for (let transaction = 0; transaction < transactions; transaction++) {
        await rockpool.batch(
          Array.from({ length: size }, (_, entry) => ({
            sql: 'INSERT INTO entries (id, accountId, date, payee, notes, amountMinor, enteredAtMs) VALUES (?, ?, ?, ?, ?, ?, ?)',
            params: [
              crypto.randomUUID(),
              account?.id ?? '',
              '2025-06-01',
              `Entry ${roundInPage}-${transaction}-${entry}`,
              randomText(notesSize),
              -1,
              Date.now(),
            ],
          })),
        );
      }
    },
    { roundInPage: round, transactions: transactionsPerRound, size: entriesPerTransaction, notesSize: notesLength },
  );
}

/** Resolves at the moment for the kill. Begins to watch at once, not when it is awaited. */
async function killIsDue({ after }: Kill, { gateway, page }: Person): Promise<void> {
  if (after === 'acknowledgement') {
    await page.evaluate(
      (allWaiting) =>
        new Promise<void>((resolve) => {
          rockpool.status.subscribe(({ pendingCount }) => {
            if (pendingCount < allWaiting) resolve();
          });
        }),
      transactionsPerRound,
    );
  } else {
    await new Promise<void>((resolve) => gateway.afterSyncBytesUp(after.bytesUp, resolve));
  }
}

function entryCount(stored: ServerDatabase): number {
  return Number(stored.value('SELECT count(*) FROM entries'));
}

/** How many transactions wait to be sent, as the badge says it once the connection is known to be lost. */
async function waitingCount(page: Page): Promise<number> {
  await expect(syncBadge(page)).toHaveText(/^(Offline|Connecting)/);
  const text = await syncBadge(page).innerText();
  return Number(/· (\d+) to sync/.exec(text)?.[1] ?? 0);
}
