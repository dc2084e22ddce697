import { expect, test } from './harness/test.ts';
import { addAccount, expectBalance, openAccount } from './steps/accounts.ts';
import { toast } from './steps/entries.ts';
import { goTo, shareLink } from './steps/navigation.ts';
import { expectUpToDate } from './steps/sync.ts';

test('a scheduled entry that two people enter, one of them offline, is entered once', async ({ newPerson }) => {
  const anna = await newPerson();
  await addAccount(anna.page, { name: 'Household', currency: 'EUR', opening: '1000' });
  await goTo(anna.page, 'Scheduled');
  await anna.page.getByRole('button', { name: 'New scheduled entry' }).click();
  const form = anna.page.getByRole('form', { name: 'New scheduled entry' });
  await form.getByLabel('Payee').fill('Landlord');
  await form.getByLabel(/^Amount in /).fill('600');
  await form.getByLabel('Category').selectOption({ label: 'Home' });
  await form.getByRole('button', { name: 'Add', exact: true }).click();
  await expectUpToDate(anna.page);
  const ben = await newPerson({ link: await shareLink(anna.page), keepsAppFiles: true });
  await goTo(anna.page, 'Scheduled');
  await goTo(ben.page, 'Scheduled');
  const enter = (page: typeof anna.page): ReturnType<typeof page.getByRole> =>
    page.getByRole('region', { name: 'Due' }).getByRole('button', { name: /^Add Landlord/ });
  await expect(enter(ben.page)).toBeVisible();

  await ben.goOffline();
  await enter(ben.page).click();
  await expect(enter(ben.page)).toBeHidden();
  await enter(anna.page).click();
  await expect(toast(anna.page)).toContainText('Landlord was added.');
  await expectUpToDate(anna.page);
  await ben.goOnline();
  await expectUpToDate(ben.page);
  for (const { page } of [anna, ben]) {
    await openAccount(page, 'Household');
    await expectBalance(page, '€400.00', '1 entry');
  }
});

test('a recurring transfer is entered on both sides', async ({ newPerson }) => {
  const { page } = await newPerson();
  await addAccount(page, { name: 'Savings', currency: 'EUR', kind: 'Savings' });
  await addAccount(page, { name: 'Household', currency: 'EUR', opening: '1000' });
  await goTo(page, 'Scheduled');
  await page.getByRole('button', { name: 'New scheduled entry' }).click();
  const form = page.getByRole('form', { name: 'New scheduled entry' });
  await form.getByRole('button', { name: 'Transfer', exact: true }).click();
  await form.getByLabel('From account').selectOption({ label: 'Household' });
  await expect(form.getByLabel('To account').locator('option:checked')).toHaveText('Savings');
  await form.getByLabel(/^Amount in /).fill('150');
  await form.getByRole('button', { name: 'Add', exact: true }).click();
  await page
    .getByRole('region', { name: 'Due' })
    .getByRole('button', { name: /^Add Transfer to Savings/ })
    .click();
  await expect(toast(page)).toContainText('Transfer to Savings was added.');
  await openAccount(page, 'Household');
  await expectBalance(page, '€850.00', '1 entry');
  await openAccount(page, 'Savings');
  await expectBalance(page, '€150.00', '1 entry');
});
