import { expect, test } from './harness/test.ts';
import { addAccount, openAccount } from './steps/accounts.ts';
import { toast } from './steps/entries.ts';
import { goTo } from './steps/navigation.ts';

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
