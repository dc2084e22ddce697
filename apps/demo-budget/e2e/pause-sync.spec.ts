import { expect, test } from './harness/test.ts';
import { addAccount } from './steps/accounts.ts';
import { addEntry } from './steps/entries.ts';
import { expectUpToDate, openSyncPage, syncBadge } from './steps/sync.ts';

test('a pause applies to every tab and survives a reload, and writes made during it are sent when it ends', async ({
  newPerson,
}) => {
  const { page, newTab } = await newPerson();
  await addAccount(page, { name: 'Household', currency: 'EUR', opening: '100' });
  await expectUpToDate(page);
  const ledger = page.url();
  await openSyncPage(page);
  await page.getByRole('button', { name: 'Pause sync' }).click();
  await expect(syncBadge(page)).toHaveText('Paused');

  const other = await newTab();
  await other.goto(ledger);
  await expect(syncBadge(other)).toHaveText('Paused');
  await addEntry(other, { payee: 'While paused', amount: '3' });
  await expect(syncBadge(other)).toHaveText('Paused · 1 to sync');
  await expect(syncBadge(page)).toHaveText('Paused · 1 to sync');

  await other.close();
  await page.reload();
  await openSyncPage(page);
  await expect(syncBadge(page)).toHaveText('Paused · 1 to sync');
  await expect(page.getByRole('button', { name: 'Try now' })).toBeDisabled();
  await page.getByRole('button', { name: 'Resume sync' }).click();
  await expectUpToDate(page);
});
