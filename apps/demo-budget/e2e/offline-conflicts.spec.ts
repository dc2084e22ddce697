import type { Locator, Page } from 'playwright/test';
import { isThorough } from './harness/level.ts';
import { expect, test } from './harness/test.ts';
import { serverDatabase } from './harness/server-database.ts';
import { passTime } from './harness/shifted-clock.ts';
import { addAccount, openAccount } from './steps/accounts.ts';
import { addEntry, changeEntry, ledgerRow } from './steps/entries.ts';
import { changeOffline, clearlyLaterMs } from './steps/offline.ts';
import { shareLink } from './steps/navigation.ts';
import { conflicts, expectUpToDate, openSyncPage } from './steps/sync.ts';

const yearMs = 365 * 24 * 3_600_000;

// `npm test` leaves equal clocks to the other tests of two people.
for (const clock of [
  ...(isThorough ? [{ words: 'with equal clocks', aheadMs: 0, firstBack: 'anna' } as const] : []),
  { words: 'with one clock a year ahead', aheadMs: yearMs, firstBack: 'ben' } as const,
]) {
  for (const firstBack of isThorough ? (['anna', 'ben'] as const) : [clock.firstBack]) {
    test(`offline edits merge by cell, and in the same cell the later one wins, ${clock.words}, ${firstBack} reconnects first`, async ({
      newPerson,
      server,
    }) => {
      const anna = await newPerson({ clockAheadMs: clock.aheadMs, keepsAppFiles: true });
      await addAccount(anna.page, { name: 'Household', currency: 'EUR', opening: '100' });
      await addEntry(anna.page, { payee: 'Apart', amount: '1' });
      await addEntry(anna.page, { payee: 'Anna later', amount: '1' });
      await addEntry(anna.page, { payee: 'Ben later', amount: '1' });
      await expectUpToDate(anna.page);
      const link = await shareLink(anna.page);
      const ben = await newPerson({ link, clockAheadMs: 0, keepsAppFiles: true });
      await openAccount(anna.page, 'Household');
      await openAccount(ben.page, 'Household');
      await expect(ledgerRow(ben.page, 'Ben later')).toBeVisible();
      await expectUpToDate(ben.page);

      await anna.goOffline();
      await ben.goOffline();
      // Different columns of one entry.
      await changeOffline(anna, 'Apart', { notes: 'noted by Anna' }, 1);
      await changeOffline(ben, 'Apart', { amount: '2.50' }, 1);
      // Both change the same column. Ben changes one entry later, and Anna the other.
      await changeOffline(anna, 'Ben later', { notes: 'Anna came first' }, 2);
      await changeOffline(ben, 'Anna later', { notes: 'Ben came first' }, 2);
      for (const { page } of [anna, ben]) await passTime(page, clearlyLaterMs);
      await changeOffline(anna, 'Anna later', { notes: 'Anna came last' }, 3);
      await changeOffline(ben, 'Ben later', { notes: 'Ben came last' }, 3);

      const [first, second] = firstBack === 'anna' ? [anna, ben] : [ben, anna];
      await first.goOnline();
      await expectUpToDate(first.page);
      await second.goOnline();
      await expectUpToDate(second.page);

      for (const { page } of [anna, ben]) {
        await expect(ledgerRow(page, 'Apart')).toContainText('noted by Anna');
        await expect(ledgerRow(page, 'Apart')).toContainText('-€2.50');
        await expect(ledgerRow(page, 'Anna later')).toContainText('Anna came last');
        await expect(ledgerRow(page, 'Ben later')).toContainText('Ben came last');
      }
      // The worker compares its own clock with the server's, so this also proves that the worker's clock was shifted.
      await openSyncPage(anna.page);
      const warning = /This device’s clock is .* (ahead|behind)/;
      await expect(anna.page.getByText(warning)).toBeVisible({ visible: clock.aheadMs > 0 });
      for (const [{ page }, lostHere, lostThere] of [
        [anna, 'Anna came first', 'Ben came first'],
        [ben, 'Ben came first', 'Anna came first'],
      ] as const) {
        await openSyncPage(page);
        if (page === ben.page) await expect(page.getByText(warning)).toBeHidden();
        await expect(conflicts(page)).toHaveCount(2);
        await expect(conflictOf(page, lostHere)).toContainText(
          `from another device replaced ${lostHere} from this device`,
        );
        await expect(conflictOf(page, lostThere)).toContainText(
          `from this device replaced ${lostThere} from another device`,
        );
      }
      expect(
        serverDatabase(server.dataFolder, link).rows('SELECT payee, notes, amountMinor FROM entries ORDER BY payee'),
      ).toEqual([
        { payee: 'Anna later', notes: 'Anna came last', amountMinor: -100 },
        { payee: 'Apart', notes: 'noted by Anna', amountMinor: -250 },
        { payee: 'Ben later', notes: 'Ben came last', amountMinor: -100 },
      ]);
    });
  }
}

test('a write made after seeing the other write is not a conflict, and a lost value can be restored', async ({
  newPerson,
}) => {
  const anna = await newPerson();
  await addAccount(anna.page, { name: 'Household', currency: 'EUR' });
  await addEntry(anna.page, { payee: 'Baker', amount: '1' });
  await expectUpToDate(anna.page);
  const ben = await newPerson({ link: await shareLink(anna.page), clockAheadMs: 0, keepsAppFiles: true });
  await openAccount(anna.page, 'Household');
  await openAccount(ben.page, 'Household');
  await changeEntry(ben.page, 'Baker', { notes: 'seen by both' });
  await expect(ledgerRow(anna.page, 'Baker')).toContainText('seen by both');
  await changeEntry(anna.page, 'Baker', { notes: 'in turn' });
  await expect(ledgerRow(ben.page, 'Baker')).toContainText('in turn');

  await ben.goOffline();
  await changeOffline(ben, 'Baker', { notes: 'rolls' }, 1);
  await passTime(ben.page, clearlyLaterMs);
  await changeEntry(anna.page, 'Baker', { notes: 'bread' });
  await expectUpToDate(anna.page);
  await ben.goOnline();
  await expect(ledgerRow(ben.page, 'Baker')).toContainText('bread');

  for (const { page } of [anna, ben]) await expect(page.getByTestId('conflict-badge')).toHaveText('1 conflict');
  await openSyncPage(ben.page);
  await expect(conflicts(ben.page)).toHaveCount(1);
  await ben.page.getByRole('button', { name: 'Restore rolls' }).click();
  await expect(ledgerRow(anna.page, 'Baker')).toContainText('rolls');
  await ben.page.keyboard.press('Control+z');
  await expect(ledgerRow(anna.page, 'Baker')).toContainText('bread');
  await ben.page.keyboard.press('Control+y');
  await expect(ledgerRow(anna.page, 'Baker')).toContainText('rolls');
  for (const { page } of [anna, ben]) {
    await openSyncPage(page);
    await expect(conflicts(page)).toHaveCount(0);
    await expect(page.getByTestId('conflict-badge')).toHaveCount(0);
    await page.getByRole('button', { name: 'Show resolved (1)' }).click();
    await expect(page.getByRole('list', { name: 'Resolved conflicts' })).toContainText('is the current value again');
  }
});

function conflictOf(page: Page, lost: string): Locator {
  return conflicts(page).filter({ hasText: `replaced ${lost}` });
}
