import type { Locator, Page } from 'playwright/test';
import { expect, test, type Person } from './harness/test.ts';
import { addAccount, openAccount } from './steps/accounts.ts';
import { addEntry, ledgerRow } from './steps/entries.ts';
import { shareLink } from './steps/navigation.ts';
import { expectUpToDate, openSyncPage } from './steps/sync.ts';

const rejectedBadge = (page: Page): Locator => page.getByTestId('rejected-badge');
const rejectedCard = (page: Page): Locator =>
  page.getByRole('region', { name: 'Rejected changes' }).getByRole('listitem');

/** Ben's entry is rejected, because Anna has deleted its account meanwhile. */
async function rejectAnEntry(
  newPerson: (given?: { link: string }) => Promise<Person>,
): Promise<{ anna: Person; ben: Person }> {
  const anna = await newPerson();
  await addAccount(anna.page, { name: 'Household', currency: 'EUR', opening: '100' });
  await addAccount(anna.page, { name: 'Trip', currency: 'USD', opening: '0' });
  await expectUpToDate(anna.page);
  const ben = await newPerson({ link: await shareLink(anna.page) });
  await openAccount(ben.page, 'Trip');
  await expectUpToDate(ben.page);
  await ben.goOffline();
  await addEntry(ben.page, { payee: 'Ferry', amount: '12' });
  await anna.page.evaluate(() => rockpool.execute("DELETE FROM accounts WHERE name = 'Trip'"));
  await expectUpToDate(anna.page);
  await ben.goOnline();
  await expect(rejectedBadge(ben.page)).toHaveText('1 rejected');
  return { anna, ben };
}

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

test('a rejected change is discarded only after the user confirms it', async ({ newPerson }) => {
  const { ben } = await rejectAnEntry(newPerson);
  await openSyncPage(ben.page);
  const card = rejectedCard(ben.page);
  await card.getByRole('button', { name: 'Discard …' }).click();
  await card.getByRole('button', { name: 'Keep it' }).click();
  await ben.page.reload();
  await expect(rejectedBadge(ben.page)).toHaveText('1 rejected');
  await openSyncPage(ben.page);
  await card.getByRole('button', { name: 'Discard …' }).click();
  await card.getByRole('button', { name: 'Discard', exact: true }).click();
  await expect(card).toHaveCount(0);
  await expect(rejectedBadge(ben.page)).toHaveCount(0);
});
