import type { Page } from 'playwright/test';
import { expect, test, type Person } from './harness/test.ts';
import { serverDatabase } from './harness/server-database.ts';
import { addAccount, openAccount } from './steps/accounts.ts';
import { addEntry, changeEntry, ledgerRow } from './steps/entries.ts';
import { shareLink } from './steps/navigation.ts';
import { expectUpToDate, openSyncPage, syncBadge } from './steps/sync.ts';

test('two offline tabs show each other’s writes, and all of them are sent later', async ({ newPerson, server }) => {
  const anna = await newPerson({ keepsAppFiles: true });
  const { page: first } = anna;
  await addAccount(first, { name: 'Cash', currency: 'EUR', opening: '10' });
  await expectUpToDate(first);
  const link = await shareLink(first);
  const second = await openSecondTab(anna);
  await expectRoles(first, second);
  await openAccount(first, 'Cash');
  await openAccount(second, 'Cash');

  await anna.goOffline();
  await addEntry(first, { payee: 'From the first', amount: '1.25' });
  await expect(ledgerRow(second, 'From the first')).toContainText('€8.75');
  await addEntry(second, { payee: 'From the second', amount: '2.50' });
  await expect(ledgerRow(first, 'From the second')).toContainText('€6.25');
  await changeEntry(second, 'From the first', { notes: 'changed by the second' });
  await expect(ledgerRow(first, 'From the first')).toContainText('changed by the second');
  for (const page of [first, second]) await expect(syncBadge(page)).toHaveText(/(Offline|Connecting) · 3 to sync/);

  await anna.goOnline();
  for (const page of [first, second]) await expectUpToDate(page);
  expect(
    serverDatabase(server.dataFolder, link).rows('SELECT payee, notes, amountMinor FROM entries ORDER BY payee'),
  ).toEqual([
    { payee: 'From the first', notes: 'changed by the second', amountMinor: -125 },
    { payee: 'From the second', notes: '', amountMinor: -250 },
  ]);
});

/** How many writes resolve before the leader's tab is closed, and how many are made after it. */
const halfSeries = 100;

test('closing the leader’s tab halfway through the other tab’s writes loses none of them', async ({
  newPerson,
  server,
}) => {
  const anna = await newPerson();
  const { page: leader } = anna;
  await addAccount(leader, { name: 'Cash', currency: 'EUR' });
  await expectUpToDate(leader);
  const link = await shareLink(leader);
  const follower = await openSecondTab(anna);
  await expectRoles(leader, follower);

  let resolved = 0;
  let lastNumber = Infinity;
  const series = writeSeries(follower, (count) => {
    resolved = count;
    return count < lastNumber;
  });
  await expect.poll(() => resolved).toBeGreaterThan(halfSeries);
  await leader.close();
  lastNumber = resolved + halfSeries;
  const written = await series;
  expect(written).toBe(lastNumber);

  expect(await amounts(follower)).toEqual(Array.from({ length: written }, (_, index) => index + 1));
  await openSyncPage(follower);
  await expect(follower.getByText('Saves and syncs for all tabs of this budget')).toBeVisible();
  const stored = serverDatabase(server.dataFolder, link);
  await expect
    .poll(() =>
      stored.rows(
        'SELECT count(*) AS entries, count(DISTINCT amountMinor) AS amounts, sum(amountMinor) AS together FROM entries',
      ),
    )
    .toEqual([{ entries: written, amounts: written, together: (written * (written + 1)) / 2 }]);
});

test('closing the leader’s tab halfway through its own writes keeps all resolved writes in order', async ({
  newPerson,
}) => {
  const anna = await newPerson();
  const { page: leader } = anna;
  await addAccount(leader, { name: 'Cash', currency: 'EUR' });
  await expectUpToDate(leader);
  const follower = await openSecondTab(anna);
  await expectRoles(leader, follower);

  let resolved = 0;
  const series = writeSeries(leader, (count) => {
    resolved = count;
    return true;
  });
  const ended = expect(series).rejects.toThrow(/closed/);
  await expect.poll(() => resolved).toBeGreaterThan(halfSeries);
  await leader.close();
  await ended;

  await openSyncPage(follower);
  await expect(follower.getByText('Saves and syncs for all tabs of this budget')).toBeVisible();
  const kept = await amounts(follower);
  expect(kept.length).toBeGreaterThanOrEqual(resolved);
  expect(kept).toEqual(kept.map((_, index) => index + 1));
  await expectUpToDate(follower);
});

async function openSecondTab({ newTab, page }: Person): Promise<Page> {
  const second = await newTab();
  await second.goto(page.url());
  await expectUpToDate(second);
  return second;
}

async function expectRoles(leader: Page, follower: Page): Promise<void> {
  await openSyncPage(leader);
  await expect(leader.getByText('Saves and syncs for all tabs of this budget')).toBeVisible();
  await openSyncPage(follower);
  await expect(follower.getByText('Another tab saves and syncs for it')).toBeVisible();
}

/**
 * Writes entries with the amounts 1, 2, 3 …, each after the previous one has resolved, while `goOn`, called with the
 * number resolved, returns true. Resolves to the number of resolved writes.
 */
async function writeSeries(page: Page, goOn: (resolved: number) => boolean): Promise<number> {
  await page.exposeFunction('goOn', goOn);
  return await page.evaluate(async () => {
    const { goOn: goOnInTest } = globalThis as unknown as { readonly goOn: (resolved: number) => Promise<boolean> };
    const [account] = await rockpool.query<{ id: string }>('SELECT id FROM accounts');
    let resolved = 0;
    do {
      await rockpool.execute(
        'INSERT INTO entries (id, accountId, date, amountMinor, enteredAtMs) VALUES (?, ?, ?, ?, ?)',
        [crypto.randomUUID(), account?.id ?? '', '2025-06-01', resolved + 1, Date.now()],
      );
      resolved++;
    } while (await goOnInTest(resolved));
    return resolved;
  });
}

async function amounts(page: Page): Promise<number[]> {
  const rows = await page.evaluate(() =>
    rockpool.query<{ amountMinor: number }>('SELECT amountMinor FROM entries ORDER BY amountMinor'),
  );
  return rows.map((row) => row.amountMinor);
}
