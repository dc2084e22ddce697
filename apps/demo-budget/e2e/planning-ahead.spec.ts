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
  const ben = await newPerson({ link: await shareLink(anna.page) });
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

test('envelopes have goals, and rules categorise typed entries', async ({ newPerson }) => {
  const { page } = await newPerson();
  await addAccount(page, { name: 'Household', currency: 'EUR', opening: '1000' });
  await goTo(page, 'Budget');
  await page.getByRole('button', { name: 'Goal for Groceries' }).click();
  const goal = page.getByRole('form', { name: 'Goal for Groceries' });
  await goal.getByLabel(/^Amount in /).fill('400');
  await goal.getByRole('button', { name: 'Save goal' }).click();
  await expect(page.getByRole('table', { name: /^Budget of / })).toContainText(
    '€400.00 each month · €400.00 more this month',
  );
  await page.getByRole('button', { name: 'Fund goals' }).click();
  await expect(page.getByRole('textbox', { name: 'Assigned to Groceries' })).toHaveValue('400.00');
  await expect(page.getByRole('table', { name: /^Budget of / })).toContainText('reached');
  await toast(page).getByRole('button', { name: 'Undo' }).click();
  await expect(page.getByRole('textbox', { name: 'Assigned to Groceries' })).toHaveValue('0.00');

  await goTo(page, 'Payees');
  await page.getByRole('button', { name: 'New rule' }).click();
  const rule = page.getByRole('form', { name: 'New rule' });
  await rule.getByLabel('Set the category to').selectOption({ label: 'Groceries' });
  await rule.getByLabel('Set the payee to').fill('Market');
  await rule.getByLabel('Value of condition 1').fill('market');
  // The matches arrive between press and release; the click must still count.
  await rule.getByRole('button', { name: 'Add rule' }).hover();
  await page.mouse.down();
  await expect(rule.getByRole('region', { name: 'Matching entries' })).toContainText('No existing entries match.');
  await page.mouse.up();
  await expect(page.getByRole('main')).toContainText(
    'If the payee contains “market”, the category is Groceries and the payee becomes “Market”.',
  );
  await openAccount(page, 'Household');
  await page.getByRole('button', { name: 'New entry' }).click();
  const entry = page.getByRole('form', { name: 'New entry' });
  await entry.getByLabel('Payee').fill('MARKET 0815 BERLIN');
  await entry.getByLabel(/^Amount in /).fill('12');
  await expect(entry.getByLabel('Payee')).toHaveValue('Market');
  await expect(entry.getByLabel('Category').locator('option:checked')).toHaveText('Groceries');
});
