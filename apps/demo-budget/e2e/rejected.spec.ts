import { expect, test } from './harness/test.ts';
import { openAccount } from './steps/accounts.ts';
import { ledgerRow } from './steps/entries.ts';
import { rejectAnEntry, rejectedBadge, rejectedCard } from './steps/rejected.ts';
import { expectUpToDate, openSyncPage } from './steps/sync.ts';

test('a rejected change is listed with its reason, and can be tried again once the reason is gone', async ({
  newPerson,
}) => {
  const { anna, ben } = await rejectAnEntry(newPerson);
  await openSyncPage(ben.page);
  const card = rejectedCard(ben.page);
  await expect(card).toContainText('New entry: Ferry');
  await expect(card).toContainText('-12.00');
  await expect(card).toContainText('It belongs to an item that is not in the budget');
  await card.getByRole('button', { name: 'Try again' }).click();
  await expect(card.getByRole('alert')).toContainText('Not saved. It belongs to an item that is not in the budget');

  await anna.page.evaluate(() => rockpool.undo());
  await expectUpToDate(anna.page);
  await expect
    .poll(() => ben.page.evaluate(() => rockpool.query("SELECT id FROM accounts WHERE name = 'Trip'")))
    .toHaveLength(1);
  await card.getByRole('button', { name: 'Try again' }).click();
  await expect(card).toHaveCount(0);
  await expect(rejectedBadge(ben.page)).toHaveCount(0);
  await expectUpToDate(ben.page);
  await openAccount(anna.page, 'Trip');
  await expect(ledgerRow(anna.page, 'Ferry')).toBeVisible();
});
