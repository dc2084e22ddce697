import { attachPicture } from './harness/pictures.ts';
import { expect, test } from './harness/test.ts';
import { addAccount, openAccount } from './steps/accounts.ts';
import { addEntry } from './steps/entries.ts';
import { assign, available } from './steps/envelopes.ts';
import { goTo, shareLink } from './steps/navigation.ts';
import { expectUpToDate } from './steps/sync.ts';

test('two people budget a month, one of them offline, and their assignments add up', async ({ newPerson }) => {
  const anna = await newPerson();
  await addAccount(anna.page, { name: 'Household', currency: 'EUR', opening: '1000' });
  await openAccount(anna.page, 'Household');
  await addEntry(anna.page, { payee: 'Market', amount: '42.50', category: 'Groceries' });
  await goTo(anna.page, 'Budget');
  await assign(anna.page, 'Groceries', '300');
  await expect(available(anna.page, 'Groceries')).toHaveText('€257.50');
  await expect(anna.page.getByText('ready to assign')).toBeVisible();
  await expect(anna.page.getByRole('main')).toContainText('€700.00');
  await expectUpToDate(anna.page);

  const ben = await newPerson({ link: await shareLink(anna.page), keepsAppFiles: true });
  await goTo(anna.page, 'Budget');
  await goTo(ben.page, 'Budget');
  await expect(available(ben.page, 'Groceries')).toHaveText('€257.50');
  await ben.goOffline();
  await assign(ben.page, 'Groceries', '350');
  await assign(ben.page, 'Leisure', '20');
  await assign(anna.page, 'Groceries', '320');
  await expectUpToDate(anna.page);
  await ben.goOnline();
  for (const { page } of [anna, ben])
    await expect(page.getByRole('textbox', { name: 'Assigned to Groceries' })).toHaveValue('370.00');

  // Leisure is overspent; Groceries covers it.
  await openAccount(anna.page, 'Household');
  await addEntry(anna.page, { payee: 'Cinema', amount: '25', category: 'Leisure' });
  await goTo(anna.page, 'Budget');
  await expect(available(anna.page, 'Leisure')).toHaveText('-€5.00');
  await attachPicture(anna.page, 'overspent');
  await available(anna.page, 'Groceries').click();
  const form = anna.page.getByRole('form', { name: 'Move money from Groceries' });
  await expect(form.getByLabel('Move from Groceries')).toHaveValue('5.00');
  await form.getByRole('button', { name: 'Move', exact: true }).click();
  await expect(available(anna.page, 'Leisure')).toHaveText('€0.00');
  await expect(available(ben.page, 'Leisure')).toHaveText('€0.00');
  await expect(available(ben.page, 'Groceries')).toHaveText('€322.50');

  // Money left over carries to the next month, which can copy this month's assignments.
  await anna.page.getByRole('button', { name: 'Next month' }).click();
  await expect(available(anna.page, 'Groceries')).toHaveText('€322.50');
  await anna.page.getByRole('button', { name: /^Copy from / }).click();
  await expect(available(anna.page, 'Groceries')).toHaveText('€687.50');
});
