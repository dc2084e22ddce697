import type { Page } from 'playwright/test';
import { isThorough } from './harness/level.ts';
import { expect, test, type Person } from './harness/test.ts';
import { serverDatabase, type ServerDatabase } from './harness/server-database.ts';
import { addAccount, expectBalance, openAccount } from './steps/accounts.ts';
import { shareLink } from './steps/navigation.ts';
import { expectUpToDate, syncBadge } from './steps/sync.ts';

const transactionsPerRound = 200;
/** `npm test` writes fewer, longer entries: the same number of transactions and bytes. */
const entriesPerTransaction = isThorough ? 10 : 3;
const entriesPerRound = transactionsPerRound * entriesPerTransaction;

/** Random notes of this length hardly compress, so a round is sent as three pushes of about 180, 180 and 140 kB. */
const notesLength = 2_700 / entriesPerTransaction;

/**
 * The moments at which the server is killed. In most, it is receiving offline writes: within the first push, within a
 * later push, or once the first acknowledgement has arrived. In the last, each write is sent as soon as it is made.
 */
const allKills: readonly Kill[] = [
  { name: 'within the first push', after: { bytesUp: 40_000 } },
  { name: 'within the second push', after: { bytesUp: 260_000 } },
  { name: 'within the third push', after: { bytesUp: 430_000 } },
  { name: 'at the first acknowledgement', after: 'acknowledgement' },
  { name: 'while writes are sent as they come', after: { bytesUp: 100_000 }, online: true },
];

const kills = isThorough ? allKills : allKills.filter(({ name }) => /second push|as they come/.test(name));

interface Kill {
  readonly name: string;
  /** Bytes after the limit never arrive, so the server cannot have stored everything. */
  readonly after: { readonly bytesUp: number } | 'acknowledgement';
  readonly online?: true;
}

test.use({ hasOwnServer: true });

test('every acknowledged write is stored exactly once after the server is killed during a push of many entries', async ({
  newPerson,
  server,
}) => {
  const anna = await newPerson({ keepsAppFiles: true });
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

      // Everything this device counts as sent is stored, even though the server has been killed since.
      const acknowledged = transactionsPerRound - (await waitingCount(page));
      const storedNow = entryCount(stored) - storedBefore;
      expect(storedNow).toBeGreaterThanOrEqual(acknowledged * entriesPerTransaction);
      // The server was killed in the intended phase.
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
      // However often a transaction was sent, the log contains it once.
      expect(stored.value('SELECT max(watermark) FROM rockpool_log')).toBe(
        firstWatermark + transactionsPerRound * (index + 1),
      );
    });
  }

  expect(stored.value('PRAGMA integrity_check')).toBe('ok');
  const ben = await newPerson({ link });
  await openAccount(ben.page, 'Cash');
  const spent = ((entriesPerRound * kills.length) / 100).toFixed(2);
  await expectBalance(ben.page, `-€${spent}`, `${(entriesPerRound * kills.length).toLocaleString('en')} entries`);
});

/** Writes a round's entries, one transaction after the other; resolves when all have resolved. */
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

/** Resolves when it is time to kill the server. Starts watching when called, not when awaited. */
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

/** The number of unsent transactions that the badge shows once the connection is known to be lost. */
async function waitingCount(page: Page): Promise<number> {
  await expect(syncBadge(page)).toHaveText(/^(Offline|Connecting)/);
  const text = await syncBadge(page).innerText();
  return Number(/· (\d+) to sync/.exec(text)?.[1] ?? 0);
}
