import { expect, test } from './harness/test.ts';
import { addAccount, expectBalance, openAccount } from './steps/accounts.ts';
import { addEntry, addTransfer, ledgerRow } from './steps/entries.ts';
import { assign, available } from './steps/envelopes.ts';
import { goTo } from './steps/navigation.ts';

test('card purchases, card payments, pension contributions and overspending show up in the right places', async ({
  newPerson,
}) => {
  const { page } = await newPerson();
  const toAssign = page.locator('.unassigned-amount');
  await addAccount(page, { name: 'Pension', currency: 'EUR', kind: 'Off budget' });
  await addAccount(page, { name: 'Card', currency: 'EUR', kind: 'Credit card' });
  await addEntry(page, { payee: 'Market', amount: '30', category: 'Groceries' });
  await addAccount(page, { name: 'Household', currency: 'EUR', opening: '1000' });
  await goTo(page, 'Budget');
  await assign(page, 'Groceries', '20');
  await expect(available(page, 'Groceries')).toHaveText('-€10.00');
  await expect(toAssign).toHaveText('€980.00');

  // A card payment is not spending.
  await openAccount(page, 'Household');
  await addTransfer(page, 'Card', '30');
  await openAccount(page, 'Card');
  await expectBalance(page, '€0.00', '2 entries');
  await goTo(page, 'Budget');
  await expect(available(page, 'Groceries')).toHaveText('-€10.00');
  await expect(toAssign).toHaveText('€980.00');

  // Money that leaves the budget is spending and has a category.
  await openAccount(page, 'Household');
  await page.getByRole('button', { name: 'New entry' }).click();
  const form = page.getByRole('form', { name: 'New entry' });
  await form.getByRole('button', { name: 'Transfer', exact: true }).click();
  await form.getByLabel('To account').selectOption({ label: 'Pension' });
  await form.getByLabel('Category').selectOption({ label: 'Bills and insurance' });
  await form.getByLabel(/^Amount in /).fill('100');
  await form.getByRole('button', { name: 'Add entry' }).click();
  await openAccount(page, 'Pension');
  await expect(ledgerRow(page, 'From Household')).toContainText('+€100.00');
  // Off-budget entries have no category and cannot be split.
  await page.getByRole('button', { name: 'New entry' }).click();
  await expect(form.getByLabel('Payee')).toBeVisible();
  await expect(form.getByLabel('Category')).toHaveCount(0);
  await expect(form.getByRole('button', { name: 'Split', exact: true })).toHaveCount(0);
  await form.getByRole('button', { name: 'Cancel' }).click();
  await goTo(page, 'Budget');
  await assign(page, 'Bills and insurance', '150');
  await expect(available(page, 'Bills and insurance')).toHaveText('€50.00');
  await expect(toAssign).toHaveText('€830.00');

  // Overspending is covered from unassigned money when the month ends, unless its envelope keeps it; money left over
  // carries forward.
  const next = page.getByRole('button', { name: 'Next month' });
  await next.click();
  await expect(available(page, 'Groceries')).toHaveText('€0.00');
  await expect(available(page, 'Bills and insurance')).toHaveText('€50.00');
  await expect(toAssign).toHaveText('€820.00');
  await available(page, 'Groceries').click();
  await page
    .getByRole('form', { name: 'Move money from Groceries' })
    .getByRole('button', { name: 'Carry overspending over' })
    .click();
  await expect(available(page, 'Groceries')).toHaveText('-€10.00');
  await expect(toAssign).toHaveText('€830.00');
});

test('months can begin on any day and are shown side by side, and reports cover any range of days', async ({
  newPerson,
}) => {
  const { page } = await newPerson({ viewport: { width: 1440, height: 900 } });
  await addAccount(page, { name: 'Household', currency: 'EUR', opening: '1000' });
  await openAccount(page, 'Household');
  await addEntry(page, { payee: 'Market', amount: '42.50', category: 'Groceries', date: '2025-05-20' });
  await goTo(page, 'Budget');

  // The keyboard moves between categories and months; an amount is saved when the focus leaves its field.
  await page.getByRole('combobox', { name: 'Months', exact: true }).selectOption('2');
  await page
    .getByLabel(/^Assigned to Groceries in /)
    .first()
    .focus();
  await page.keyboard.type('300');
  await page.keyboard.press('Enter');
  await page.keyboard.press('ArrowUp');
  await page.keyboard.press('ArrowRight');
  await page.keyboard.type('20');
  await page.keyboard.press('Enter');
  await expect(page.getByLabel(/^Assigned to Groceries in /).nth(0)).toHaveValue('300.00');
  await expect(page.getByLabel(/^Assigned to Groceries in /).nth(1)).toHaveValue('20.00');
  await expect(available(page, 'Groceries').nth(1)).toHaveText('€320.00');

  await page.getByLabel('Months begin on day').selectOption('25');
  await expect(page.getByRole('group', { name: 'Month' })).toContainText(/25 .* to 24 /);
  await goTo(page, 'Reports');
  await page.getByText('Show as a table').click();
  const table = page.getByRole('table', { name: /^Spending by category and month/ });
  await expect(table.getByRole('columnheader').last()).toHaveText('Apr 25');
  await page.getByRole('combobox', { name: 'Months', exact: true }).selectOption('Any days');
  await page.getByLabel('From').fill('2025-05-21');
  await expect(page.getByText('No spending in these days.')).toBeVisible();
  await page.getByLabel('From').fill('2026-05-01');
  await expect(page.getByRole('alert')).toHaveText('The last day must be after the first.');
  await page.getByLabel('To', { exact: true }).fill('2026-05-31');
  await expect(page.getByText('A year earlier:')).toContainText('€42.50');
});
