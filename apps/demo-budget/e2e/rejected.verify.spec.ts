import { expect, test } from './harness/test.ts';
import { addAccount, openAccount } from './steps/accounts.ts';
import { addEntry, ledgerRow } from './steps/entries.ts';
import { goTo } from './steps/navigation.ts';
import { rejectAnEntry, rejectedBadge, rejectedCard } from './steps/rejected.ts';
import { invite, join } from './steps/share.ts';
import { expectUpToDate, openSyncPage } from './steps/sync.ts';

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

test('a change that cannot sync can be taken back, and the ones after it sync', async ({ newPerson }) => {
  const anna = await newPerson();
  await addAccount(anna.page, { name: 'Household', currency: 'EUR', opening: '100' });
  await expectUpToDate(anna.page);
  const ben = await newPerson({ link: await invite(anna.page, 'editor'), keepsAppFiles: true });
  await join(ben.page, 'Ben');
  await openAccount(ben.page, 'Household');
  await expectUpToDate(ben.page);
  await ben.goOffline();
  await addEntry(ben.page, { payee: 'Ferry', amount: '12' });
  await addEntry(ben.page, { payee: 'Hotel', amount: '80' });
  await goTo(anna.page, 'Share');
  await anna.page.getByLabel('Role of Ben').selectOption('viewer');
  await expect(anna.page.getByLabel('Role of Ben')).toHaveValue('viewer');
  await ben.goOnline();
  await openSyncPage(ben.page);
  const waiting = ben.page.getByRole('region', { name: 'Waiting changes' }).getByRole('listitem');
  await expect(waiting).toHaveCount(2);
  await expect(waiting.first()).toContainText('New entry: Ferry');
  await waiting.first().getByRole('button', { name: 'Take back' }).click();
  await expect(waiting).toHaveCount(1);
  await expect(waiting).toContainText('New entry: Hotel');
  await expect(rejectedCard(ben.page)).toContainText('You took it back before it synced.');

  await anna.page.getByLabel('Role of Ben').selectOption('editor');
  await expectUpToDate(ben.page);
  await openAccount(anna.page, 'Household');
  await expect(ledgerRow(anna.page, 'Hotel')).toBeVisible();
  await expect(ledgerRow(anna.page, 'Ferry')).toHaveCount(0);
  await rejectedCard(ben.page).getByRole('button', { name: 'Try again' }).click();
  await expect(ledgerRow(anna.page, 'Ferry')).toBeVisible();
});
