import { expect, test } from './harness/test.ts';
import { addAccount, expectBalance, openAccount } from './steps/accounts.ts';
import { addEntry, entryButton, ledgerRow, toast } from './steps/entries.ts';
import { importPreviewed } from './steps/import.ts';
import { goTo } from './steps/navigation.ts';

test('one shortcut undoes every kind of action, and another redoes it', async ({ newPerson }) => {
  const { page } = await newPerson();
  const main = page.getByRole('main');
  const undo = async (): Promise<void> => {
    // Not inside a field, which has its own undo.
    await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());
    await page.keyboard.press('Control+z');
    await expect(toast(page)).toContainText('Undone.');
  };
  const redo = async (): Promise<void> => {
    await page.keyboard.press('Control+y');
    await expect(toast(page)).toContainText('Redone.');
  };
  await addAccount(page, { name: 'Purse', currency: 'EUR', kind: 'Cash' });
  await addAccount(page, { name: 'Household', currency: 'EUR', opening: '100' });

  // Renaming and closing an account.
  await page.getByRole('button', { name: 'Rename or group this account' }).click();
  const rename = page.getByRole('form', { name: 'Rename the account' });
  await rename.getByLabel('Name').fill('Giro');
  await rename.getByRole('button', { name: 'Save' }).click();
  await expect(main.getByRole('heading', { level: 1 })).toHaveText('Giro');
  await undo();
  await expect(main.getByRole('heading', { level: 1 })).toHaveText('Household');
  await page.getByRole('button', { name: 'Close this account' }).click();
  await expect(page.getByRole('button', { name: 'Reopen this account' })).toBeVisible();
  await undo();
  await expect(page.getByRole('button', { name: 'Close this account' })).toBeVisible();

  // Turning an entry into a transfer, whose other side exists already or is new.
  await addEntry(page, { payee: 'ATM', amount: '20', date: '2025-01-02' });
  await entryButton(page, 'ATM').click();
  const change = page.getByRole('form', { name: 'Edit entry' });
  await change.getByRole('button', { name: 'Transfer', exact: true }).click();
  await change.getByRole('button', { name: 'Save' }).click();
  await expect(ledgerRow(page, 'To Purse')).toContainText('-€20.00');
  await undo();
  await expect(ledgerRow(page, 'ATM')).toBeVisible();
  await redo();
  await openAccount(page, 'Purse');
  await expect(ledgerRow(page, 'From Household')).toContainText('+€20.00');

  // Moving entries to another account.
  await addEntry(page, { payee: 'Kiosk', amount: '3' });
  await page.getByRole('checkbox', { name: 'Select Kiosk' }).check();
  await page.getByLabel('Account of the selected entries').selectOption({ label: 'Household' });
  await expectBalance(page, '€20.00', '1 entry');
  await undo();
  await expectBalance(page, '€17.00', '2 entries');
  await undo();
  await expectBalance(page, '€20.00', '1 entry');

  // Clearing and reconciling.
  await page.getByRole('button', { name: 'Not cleared: From Household' }).click();
  await expect(page.getByRole('button', { name: 'Cleared: From Household', exact: true })).toBeVisible();
  await undo();
  await expect(page.getByRole('button', { name: 'Not cleared: From Household' })).toBeVisible();
  await redo();
  await page.getByRole('button', { name: 'Reconcile', exact: true }).click();
  await page
    .getByRole('form', { name: 'Reconcile' })
    .getByLabel(/balance on your statement/)
    .fill('20');
  await page.getByRole('button', { name: 'Compare' }).click();
  await page.getByRole('button', { name: 'Finish' }).click();
  await expect(page.getByRole('button', { name: 'Reconciled: From Household' })).toBeVisible();
  await undo();
  await expect(page.getByRole('button', { name: 'Cleared: From Household', exact: true })).toBeVisible();

  // Envelopes and goals. The toast does not announce actions of other tabs or devices.
  await goTo(page, 'Budget');
  await expect(toast(page)).toBeEmpty();
  const assigned = page.getByRole('textbox', { name: 'Assigned to Groceries' });
  await assigned.fill('40');
  await assigned.press('Enter');
  await expect(assigned).toHaveValue('40.00');
  await page.getByRole('button', { name: 'Goal for Groceries' }).click();
  const goal = page.getByRole('form', { name: 'Goal for Groceries' });
  await goal.getByLabel('How often').selectOption({ label: 'Refill to an amount each month' });
  await goal.getByLabel(/^Amount in /).fill('60');
  await goal.getByRole('button', { name: 'Save goal' }).click();
  const table = page.getByRole('table', { name: /^Budget of / });
  await expect(table).toContainText('refill to €60.00 · €20.00 more this month');
  await undo();
  await expect(table).not.toContainText('refill to');
  await undo();
  await expect(assigned).toHaveValue('0.00');

  // Categories, rules and schedules.
  await goTo(page, 'Categories');
  await page.getByRole('button', { name: 'Hide Clothes' }).click();
  await expect(page.getByRole('button', { name: 'Show Clothes' })).toBeVisible();
  await undo();
  await expect(page.getByRole('button', { name: 'Hide Clothes' })).toBeVisible();
  await goTo(page, 'Payees');
  await page.getByRole('button', { name: 'New rule' }).click();
  const rule = page.getByRole('form', { name: 'New rule' });
  await rule.getByLabel('Value of condition 1').fill('market');
  await rule.getByLabel('Set the payee to').fill('Market');
  await rule.getByRole('button', { name: 'Add rule' }).click();
  await expect(main).toContainText('If the payee contains “market”');
  await undo();
  await expect(main).not.toContainText('If the payee contains “market”');
  await goTo(page, 'Scheduled');
  await page.getByRole('button', { name: 'New scheduled entry' }).click();
  const scheduled = page.getByRole('form', { name: 'New scheduled entry' });
  await scheduled.getByLabel('Payee').fill('Landlord');
  await scheduled.getByLabel(/^Amount in /).fill('600');
  await scheduled.getByRole('button', { name: 'Add', exact: true }).click();
  await page
    .getByRole('region', { name: 'Due' })
    .getByRole('button', { name: /^Skip Landlord/ })
    .click();
  await expect(page.getByRole('region', { name: 'Due' })).toBeHidden();
  await undo();
  await expect(page.getByRole('region', { name: 'Due' })).toBeVisible();
  await undo();
  await expect(page.getByRole('button', { name: 'Edit Landlord' })).toBeHidden();

  // An import spans several transactions, so it has its own "Undo" button; it can be repeated afterwards.
  const statement = {
    name: 'bank.csv',
    contents: 'Date,Payee,Amount\n2025-02-01,Baker,-2.00\n2025-02-02,Kiosk,-3.00\n',
  };
  await openAccount(page, 'Household');
  await expectBalance(page, '€80.00', '1 entry');
  await page.getByRole('link', { name: 'Import' }).last().click();
  for (const _ of [1, 2]) {
    await page
      .getByLabel('Bank statement')
      .setInputFiles({ name: statement.name, mimeType: 'text/csv', buffer: Buffer.from(statement.contents) });
    await importPreviewed(page, 2);
    await page.getByRole('button', { name: 'Undo import' }).click();
    await expect(toast(page)).toContainText('2 entries removed.');
  }
  await openAccount(page, 'Household');
  await expectBalance(page, '€80.00', '1 entry');
  await undo();
  await expectBalance(page, '€75.00', '3 entries');
});
