import { expect, test } from './harness/test.ts';
import { addAccount, openAccount } from './steps/accounts.ts';
import { chooseFile, importPreviewed } from './steps/import.ts';
import { goTo } from './steps/navigation.ts';

test('a rule is changed to match when any of its conditions holds', async ({ newPerson }) => {
  const { page } = await newPerson();
  await addAccount(page, { name: 'Household', currency: 'EUR', opening: '1000' });
  await goTo(page, 'Payees');
  await page.getByRole('button', { name: 'New rule' }).click();
  const rule = page.getByRole('form', { name: 'New rule' });
  await rule.getByLabel('Operator of condition 1').selectOption({ label: 'is one of' });
  await rule.getByLabel('Value of condition 1').fill('Baker\nMiller');
  await rule.getByLabel('Set the category to').selectOption({ label: 'Groceries' });
  await rule.getByRole('button', { name: 'Add rule' }).click();
  // Another rule splits an entry and leaves it to be cleared by hand.
  await page.getByRole('button', { name: 'New rule' }).click();
  await rule.getByLabel('Value of condition 1').fill('warehouse');
  await rule.getByRole('button', { name: 'Split instead' }).click();
  await rule.getByLabel('Category of part 1').selectOption({ label: 'Groceries' });
  await rule.getByLabel('Percentage of part 1').fill('100');
  await rule.getByRole('button', { name: 'Add rule' }).click();
  await expect(rule.getByRole('alert')).toContainText('leave something for the last part');
  await rule.getByLabel('Percentage of part 1').fill('75');
  await rule.getByLabel('Category of part 2').selectOption({ label: 'Leisure' });
  await rule.getByLabel('Set the status to').selectOption({ label: 'Not cleared' });
  await rule.getByRole('button', { name: 'Add rule' }).click();
  await expect(page.getByRole('main')).toContainText(
    'the entry is split into 75% Groceries and the rest Leisure and the status becomes not cleared.',
  );
  await page.getByRole('button', { name: /^Edit the rule: If the payee is one/ }).click();
  const change = page.getByRole('form', { name: 'Edit rule' });
  await change.getByRole('button', { name: 'Add a condition' }).click();
  await change.getByLabel('Field of condition 2').selectOption({ label: 'the memo' });
  await change.getByLabel('Value of condition 2').fill('bread');
  await change.getByLabel('Conditions to match').selectOption({ label: 'any condition matches' });
  await change.getByRole('button', { name: 'Save' }).click();
  await expect(page.getByRole('main')).toContainText(
    'If the payee is one of “Baker”, “Miller” or the memo contains “bread”, the category is Groceries.',
  );

  await chooseFile(page, {
    name: 'bank.csv',
    contents:
      'Date,Payee,Notes,Amount\n2025-02-01,Miller,,-20.00\n2025-02-02,Shop,a loaf of BREAD,-3.00\n2025-02-03,Shop,milk,-1.00\n2025-02-04,Warehouse,,-10.00\n',
  });
  await importPreviewed(page, 4);
  await openAccount(page, 'Household');
  // The parts open below the entry.
  await page.getByRole('button', { name: 'Split into 2: Warehouse' }).click();
  await expect(page.getByRole('list', { name: 'Parts of Warehouse' })).toContainText(
    /Groceries.*7\.50.*Leisure.*2\.50/,
  );
  await expect(page.getByRole('button', { name: 'Not cleared: Warehouse' })).toBeVisible();
  const category = (day: string): ReturnType<typeof page.getByRole> =>
    page.getByRole('row').filter({ hasText: day }).getByRole('combobox');
  await expect(category('1 Feb 2025')).toHaveValue('starter-groceries');
  await expect(category('2 Feb 2025')).toHaveValue('starter-groceries');
  await expect(category('3 Feb 2025')).toHaveValue('');
});
