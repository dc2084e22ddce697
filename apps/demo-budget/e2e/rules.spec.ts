import { expect, test } from './harness/test.ts';
import { addAccount, openAccount } from './steps/accounts.ts';
import { addEntry, ledgerRow, toast } from './steps/entries.ts';
import { chooseFile } from './steps/import.ts';
import { goTo } from './steps/navigation.ts';

test('a rule with several conditions previews its matches and applies to existing, imported and typed entries', async ({
  newPerson,
}) => {
  const { page } = await newPerson();
  await addAccount(page, { name: 'Savings', currency: 'EUR', kind: 'Savings' });
  await addAccount(page, { name: 'Household', currency: 'EUR', opening: '1000' });
  await addEntry(page, { payee: 'MARKET 0815', amount: '12', date: '2025-01-02' });
  await addEntry(page, { payee: 'MARKET 4711', amount: '250', date: '2025-01-03' });

  await goTo(page, 'Payees');
  await page.getByRole('button', { name: 'New rule' }).click();
  const rule = page.getByRole('form', { name: 'New rule' });
  await rule.getByLabel('Operator of condition 1').selectOption({ label: 'begins with' });
  await rule.getByLabel('Value of condition 1').fill('market');
  const preview = rule.getByRole('region', { name: 'Matching entries' });
  await expect(preview).toContainText('2 existing entries match');
  await rule.getByRole('button', { name: 'Add a condition' }).click();
  await rule.getByLabel('Field of condition 2').selectOption({ label: 'the amount' });
  await rule.getByLabel('Operator of condition 2').selectOption({ label: 'is at most' });
  await rule.getByLabel('Value of condition 2').fill('100');
  await rule.getByRole('button', { name: 'Add a condition' }).click();
  await rule.getByLabel('Field of condition 3').selectOption({ label: 'the account' });
  await rule.getByLabel('Operator of condition 3').selectOption({ label: 'is one of' });
  await rule.getByLabel('Value of condition 3').selectOption([{ label: 'Household' }]);
  await expect(preview).toContainText('1 existing entry matches');
  await expect(preview).toContainText('MARKET 0815');
  await rule.getByLabel('Set the category to').selectOption({ label: 'Groceries' });
  await rule.getByLabel('Set the payee to').fill('Market');
  await rule.getByLabel('Set the memo to').fill('by card');
  await rule.getByLabel('Also apply to this entry').check();
  await rule.getByRole('button', { name: 'Add rule' }).click();
  const main = page.getByRole('main');
  const sentence =
    'If the payee begins with “market” and the amount is at most 100.00 and the account is one of Household, the category is Groceries and the payee becomes “Market” and the memo becomes “by card”.';
  await expect(main).toContainText(sentence);

  await openAccount(page, 'Household');
  await expect(ledgerRow(page, 'Market')).toContainText('by card');
  await expect(page.getByLabel('Category of Market', { exact: true })).toHaveValue('starter-groceries');
  await expect(ledgerRow(page, 'MARKET 4711')).toBeVisible();
  // One undo reverts the rule together with the changes it made.
  await page.keyboard.press('Control+z');
  await expect(ledgerRow(page, 'MARKET 0815')).toBeVisible();
  await toast(page).getByRole('button', { name: 'Redo' }).click();
  await expect(ledgerRow(page, 'Market')).toContainText('by card');

  // Typed and saved with Enter from the amount field: no field lost focus, which would have triggered the rules.
  await page.getByRole('button', { name: 'New entry' }).click();
  const entry = page.getByRole('form', { name: 'New entry' });
  await entry.getByLabel('Payee').fill('Market hall');
  await entry.getByLabel(/^Amount in /).fill('7');
  await entry.getByLabel(/^Amount in /).press('Enter');
  await expect(entry).toBeHidden();
  await expect(page.getByRole('row').filter({ hasText: '-€7.00' }).getByRole('combobox')).toHaveValue(
    'starter-groceries',
  );

  // A statement's rows, before and after the import.
  await chooseFile(page, {
    name: 'bank.csv',
    contents: 'Date,Payee,Amount\n2025-02-01,MARKET 9999 BERLIN,-20.00\n2025-02-02,MARKET 9999 BERLIN,-200.00\n',
  });
  const rows = page.getByRole('table', { name: 'Preview' }).getByRole('row');
  await expect(rows.filter({ hasText: '-€20.00' })).toContainText('By your rules: Market · by card · Groceries');
  await expect(rows.filter({ hasText: '-€200.00' })).not.toContainText('By your rules');
});
