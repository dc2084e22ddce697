import { expect, test } from './harness/test.ts';
import { addAccount, expectBalance, openAccount } from './steps/accounts.ts';
import { addEntry, addTransfer, changeEntry, fillEntryForm, ledgerRow, splitInto, toast } from './steps/entries.ts';
import { goTo } from './steps/navigation.ts';

test('a user records, splits, transfers, undoes and reconciles entries', async ({ newPerson }) => {
  const { page } = await newPerson();
  await addAccount(page, { name: 'Purse', currency: 'EUR', kind: 'Cash' });
  await addAccount(page, { name: 'Checking', currency: 'EUR', opening: '1000' });

  // Splits a receipt over two categories.
  await page.keyboard.press('n');
  const form = page.getByRole('form', { name: 'New entry' });
  await fillEntryForm(form, { payee: 'Market', amount: '42.50' });
  await splitInto(form, [
    { category: 'Groceries', amount: '30' },
    { category: 'Home', amount: '10' },
  ]);
  await form.getByRole('button', { name: 'Add entry' }).click();
  await expect(form).toContainText('The parts do not add up to the total yet.');
  await expect(form).toContainText('€2.50 left to assign');
  await form.getByLabel('Amount of part 2').fill('12.50');
  await form.getByRole('button', { name: 'Add entry' }).click();
  await expect(ledgerRow(page, 'Market')).toContainText('Split into 2');
  await expectBalance(page, '€957.50', '1 entry');

  // Transfers money, edits the transfer from either side, and deletes it from the other account.
  await addTransfer(page, 'Purse', '50');
  await expectBalance(page, '€907.50', '2 entries');
  await openAccount(page, 'Purse');
  await expectBalance(page, '€50.00', '1 entry');
  await changeEntry(page, 'From Checking', { amount: '60' });
  await expectBalance(page, '€60.00', '1 entry');
  await openAccount(page, 'Checking');
  await expect(ledgerRow(page, 'To Purse')).toContainText('-€60.00');
  await page.keyboard.press('Control+z');
  await expect(toast(page)).toContainText('Undone.');
  await expect(ledgerRow(page, 'To Purse')).toContainText('-€50.00');
  await toast(page).getByRole('button', { name: 'Redo' }).click();
  await expect(ledgerRow(page, 'To Purse')).toContainText('-€60.00');
  await page.getByRole('button', { name: 'Edit To Purse,' }).click();
  await page.getByRole('form', { name: 'Edit entry' }).getByRole('button', { name: 'Delete' }).click();
  await expectBalance(page, '€957.50', '1 entry');
  await toast(page).getByRole('button', { name: 'Undo' }).click();
  await expectBalance(page, '€897.50', '2 entries');

  // Reconciles with a statement that has an unexplained difference.
  await page.getByRole('button', { name: 'Not cleared: Market' }).click();
  await page.getByRole('button', { name: 'Not cleared: To Purse' }).click();
  await page.getByRole('button', { name: 'Reconcile', exact: true }).click();
  await page
    .getByRole('form', { name: 'Reconcile' })
    .getByLabel(/balance on your statement/)
    .fill('897.00');
  await page.getByRole('button', { name: 'Compare' }).click();
  await expect(page.getByRole('region', { name: 'Reconcile' })).toContainText('-€0.50');
  await page.getByRole('button', { name: 'Add adjustment' }).click();
  await page.getByRole('button', { name: 'Finish' }).click();
  await expect(toast(page)).toContainText('3 entries are locked');
  await expect(page.getByRole('button', { name: 'Reconciled: Market' })).toBeDisabled();
  await page.getByRole('button', { name: 'Edit Market,' }).click();
  const change = page.getByRole('form', { name: 'Edit entry' });
  await expect(change.getByLabel(/^Amount in /)).toBeDisabled();
  await change.getByRole('button', { name: 'Unlock' }).click();
  await expect(change.getByLabel(/^Amount in /)).toBeEnabled();
  await change.getByRole('button', { name: 'Cancel' }).click();

  await goTo(page, 'Reports');
  await expect(page.getByRole('main')).toContainText('Groceries');
});

test('the ledger works by keyboard, and several entries change at once', async ({ newPerson }) => {
  const { page } = await newPerson();
  await addAccount(page, { name: 'Checking', currency: 'EUR', opening: '100' });
  for (const [payee, date] of [
    ['Baker', '2025-01-01'],
    ['Kiosk', '2025-01-02'],
    ['Baker', '2025-01-03'],
  ] as const)
    await addEntry(page, {
      payee,
      date,
      amount: '2',
      notes: payee === 'Kiosk' ? 'a magazine, and another line of notes' : '',
    });
  // All rows have the same height, so the height of a ledger is known without rendering its rows.
  const entryRows = page.locator('tr[data-entry]');
  await expect(entryRows).toHaveCount(3);
  const heights = await entryRows.evaluateAll((rows) => rows.map((row) => row.getBoundingClientRect().height));
  expect(new Set(heights)).toEqual(new Set([40]));
  const open = (payee: string, day: string): ReturnType<typeof page.getByRole> =>
    page.getByRole('button', { name: `Edit ${payee}, ${day}` });

  await page.keyboard.press('Escape');
  await page.evaluate(() => (document.activeElement as HTMLElement).blur());
  await page.keyboard.press('ArrowDown');
  await expect(open('Baker', '3 Jan 2025')).toBeFocused();
  await page.keyboard.press('Space');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Space');
  const selection = page.getByRole('toolbar', { name: 'Selected entries' });
  await expect(selection).toContainText('2 selected');
  await selection.getByLabel('Category of the selected entries').selectOption({ label: 'Groceries' });
  await expect(toast(page)).toContainText('2 entries changed.');
  await expect(page.getByLabel('Category of Kiosk')).toHaveValue('');
  await selection.getByRole('button', { name: 'Delete' }).click();
  await expectBalance(page, '€98.00', '1 entry');
  await page.keyboard.press('Control+z');
  await expectBalance(page, '€94.00', '3 entries');
  await page.keyboard.press('Control+z');
  await expect(page.getByLabel('Category of Baker').first()).toHaveValue('');

  await page.keyboard.press('/');
  await page.keyboard.type('kio');
  await expect(page.getByRole('search')).toContainText('1 entry found, -€2.00');
  await page.keyboard.press('Escape');
  await page.keyboard.press('?');
  await expect(page.getByRole('dialog', { name: 'Keyboard shortcuts' })).toBeVisible();
  await page.keyboard.press('Escape');

  // The payee's last category is filled in automatically.
  await page.getByRole('searchbox', { name: 'Search entries' }).fill('');
  await page.getByLabel('Category of Kiosk').selectOption({ label: 'Leisure' });
  // The row shows the category once it is stored.
  await expect(page.getByLabel('Category of Kiosk')).toHaveValue('starter-leisure');
  await page.getByRole('button', { name: 'New entry' }).click();
  const form = page.getByRole('form', { name: 'New entry' });
  await form.getByLabel('Payee').fill('Kiosk');
  await form.getByLabel(/^Amount in /).fill('3');
  await expect(form.getByLabel('Category').locator('option:checked')).toHaveText('Leisure');
});
