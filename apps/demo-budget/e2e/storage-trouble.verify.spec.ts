import type { Locator } from 'playwright/test';
import { expect, test } from './harness/test.ts';
import { changeableStorage, setStorage } from './harness/storage-faults.ts';
import { openAccount } from './steps/accounts.ts';
import { addEntry, entryButton, ledgerRow } from './steps/entries.ts';
import { goTo } from './steps/navigation.ts';
import { expectUpToDate } from './steps/sync.ts';

test('a full device keeps the text typed in every form, and each form’s own button saves it once storage is freed', async ({
  newPerson,
}) => {
  const { page } = await newPerson({ scriptPrefix: changeableStorage });
  const main = page.getByRole('main');
  const alert = main.getByRole('alert');
  /**
   * Submits a form with storage full, then with storage free. The form first keeps the value of `field`, and closes
   * once the value is saved.
   */
  const sendTwice = async (form: Locator, button: string, field: Locator): Promise<void> => {
    const typed = await field.inputValue();
    await setStorage(page, 'full');
    await form.getByRole('button', { name: button, exact: true }).click();
    await expect(alert).toContainText('out of space');
    await expect(alert).toBeInViewport();
    await expect(field).toHaveValue(typed);
    await setStorage(page, 'none');
    await form.getByRole('button', { name: button, exact: true }).click();
    await expect(alert).toBeHidden();
  };

  await page.getByRole('button', { name: 'Add your first account' }).click();
  const account = page.getByRole('form', { name: 'New account' });
  await account.getByLabel('Name').fill('Household');
  await account.getByLabel('Currency').fill('EUR');
  await sendTwice(account, 'Add account', account.getByLabel('Name'));
  await addEntry(page, { payee: 'Baker', amount: '1' });

  await goTo(page, 'Categories');
  const category = page.getByRole('form', { name: 'New category' });
  await category.getByLabel('New category').fill('Garden');
  await sendTwice(category, 'Add category', category.getByLabel('New category'));
  await expect(page.getByLabel('Name of Garden')).toHaveValue('Garden');

  await goTo(page, 'Payees');
  await page.getByRole('button', { name: 'New rule' }).click();
  const rule = page.getByRole('form', { name: 'New rule' });
  await rule.getByLabel('Value of condition 1').fill('market');
  await rule.getByLabel('Set the payee to').fill('Market');
  await sendTwice(rule, 'Add rule', rule.getByLabel('Value of condition 1'));
  await expect(main).toContainText('If the payee contains “market”');
  // A name field has no submit button, so a retry is offered.
  await setStorage(page, 'full');
  await page.getByLabel('Name of Baker').fill('Bakery');
  await page.getByLabel('Name of Baker').press('Enter');
  await expect(alert).toContainText('out of space');
  await expect(page.getByLabel('Name of Baker')).toHaveValue('Bakery');
  await setStorage(page, 'none');
  await alert.getByRole('button', { name: 'Try again' }).click();
  await expect(page.getByLabel('Name of Bakery')).toBeVisible();

  await goTo(page, 'Scheduled');
  await page.getByRole('button', { name: 'New scheduled entry' }).click();
  const scheduled = page.getByRole('form', { name: 'New scheduled entry' });
  await scheduled.getByLabel('Payee').fill('Landlord');
  await scheduled.getByLabel(/^Amount in /).fill('600');
  await sendTwice(scheduled, 'Add', scheduled.getByLabel('Payee'));
  await expect(page.getByRole('button', { name: 'Edit Landlord' })).toBeVisible();

  await goTo(page, 'Budget');
  const assigned = page.getByRole('textbox', { name: 'Assigned to Groceries' });
  await setStorage(page, 'full');
  await assigned.fill('50');
  await assigned.press('Enter');
  await expect(alert).toContainText('out of space');
  await expect(assigned).toHaveValue('50');
  await setStorage(page, 'none');
  await assigned.focus();
  await assigned.press('Enter');
  await expect(assigned).toHaveValue('50.00');
  await page.getByRole('button', { name: 'Move money from Groceries' }).click();
  const moved = page.getByRole('form', { name: 'Move money from Groceries' });
  await moved.getByLabel('Move from Groceries').fill('20');
  await sendTwice(moved, 'Move', moved.getByLabel('Move from Groceries'));
  await expect(assigned).toHaveValue('30.00');
  await page.getByRole('button', { name: 'Goal for Groceries' }).click();
  const goal = page.getByRole('form', { name: 'Goal for Groceries' });
  await goal.getByLabel(/^Amount in /).fill('400');
  await sendTwice(goal, 'Save goal', goal.getByLabel(/^Amount in /));
  await expect(page.getByRole('table', { name: /^Budget of / })).toContainText('€400.00 each month');

  await openAccount(page, 'Household');
  await page.getByRole('checkbox', { name: 'Select Bakery' }).check();
  const selection = page.getByRole('toolbar', { name: 'Selected entries' });
  await selection.getByRole('button', { name: 'Payee…' }).click();
  await selection.getByLabel('Payee of the selected entries').fill('Corner bakery');
  await sendTwice(selection, 'Set', selection.getByLabel('Payee of the selected entries'));
  await expect(ledgerRow(page, 'Corner bakery')).toBeVisible();
  // A failed delete keeps the selection.
  await setStorage(page, 'full');
  await selection.getByRole('button', { name: 'Delete' }).click();
  await expect(alert).toContainText('out of space');
  await expect(selection).toContainText('1 selected');
  await setStorage(page, 'none');
  await entryButton(page, 'Corner bakery').click();
  const entry = page.getByRole('form', { name: 'Edit entry' });
  await entry.getByLabel('Memo').fill('rolls');
  await sendTwice(entry, 'Save', entry.getByLabel('Memo'));
  await expect(ledgerRow(page, 'Corner bakery')).toContainText('rolls');
  await expectUpToDate(page);
});
