import { expect, test } from './harness/test.ts';
import { addAccount, expectBalance, openAccount } from './steps/accounts.ts';
import { addEntry, addTransfer, changeEntry, fillEntryForm, ledgerRow, splitInto, toast } from './steps/entries.ts';
import { goTo, shareLink } from './steps/navigation.ts';
import { expectUpToDate, syncBadge } from './steps/sync.ts';

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

test('an amount and its parts, changed by two people at once, are both kept, and their difference is shown', async ({
  newPerson,
}) => {
  const anna = await newPerson();
  await addAccount(anna.page, { name: 'Household', currency: 'EUR', opening: '100' });
  await anna.page.getByRole('button', { name: 'New entry' }).click();
  const form = anna.page.getByRole('form', { name: 'New entry' });
  await fillEntryForm(form, { payee: 'Market', amount: '20' });
  await splitInto(form, [
    { category: 'Groceries', amount: '15' },
    { category: 'Home', amount: '5' },
  ]);
  await form.getByRole('button', { name: 'Add entry' }).click();
  await expectUpToDate(anna.page);
  const ben = await newPerson({ link: await shareLink(anna.page) });
  await openAccount(anna.page, 'Household');
  await openAccount(ben.page, 'Household');
  await expect(ledgerRow(ben.page, 'Market')).toContainText('Split into 2');
  await expectUpToDate(ben.page);

  await ben.goOffline();
  const change = async (page: typeof anna.page, total: string, groceries: string): Promise<void> => {
    await page.getByRole('button', { name: 'Edit Market,' }).click();
    const fields = page.getByRole('form', { name: 'Edit entry' });
    await fields.getByLabel(/^Amount in /).fill(total);
    await fields.getByLabel('Amount of part 1').fill(groceries);
    await fields.getByRole('button', { name: 'Save' }).click();
    await expect(fields).toBeHidden();
  };
  await change(ben.page, '24', '19');
  await expect(syncBadge(ben.page)).toHaveText(/1 to sync/);
  // Anna divides the same amount differently.
  await anna.page.getByRole('button', { name: 'Edit Market,' }).click();
  const fields = anna.page.getByRole('form', { name: 'Edit entry' });
  await fields.getByLabel('Amount of part 1').fill('12');
  await fields.getByLabel('Amount of part 2').fill('8');
  await fields.getByRole('button', { name: 'Save' }).click();
  await expectUpToDate(anna.page);
  await ben.goOnline();
  for (const { page } of [anna, ben]) {
    await expect(ledgerRow(page, 'Market')).toContainText('-€24.00');
    await expect(ledgerRow(page, 'Market')).toContainText('not divided');
  }
});

test('the register of all accounts shows every entry, accepts new entries, and evaluates sums in amount fields', async ({
  newPerson,
}) => {
  const { page } = await newPerson();
  await addAccount(page, { name: 'Checking', currency: 'EUR', opening: '100' });
  await addEntry(page, { payee: 'Market', amount: '12+3.50' });
  await expect(ledgerRow(page, 'Market')).toContainText('-€15.50');
  await addAccount(page, { name: 'Purse', currency: 'EUR', kind: 'Cash' });
  await addEntry(page, { payee: 'Kiosk', amount: '2' });
  await goTo(page, 'Accounts');
  await page.getByRole('link', { name: 'All accounts in one register' }).click();
  const register = page.getByRole('table', { name: 'Entries of all accounts' });
  await expect(ledgerRow(page, 'Market')).toContainText('Checking');
  await expect(ledgerRow(page, 'Kiosk')).toContainText('Purse');
  await page.getByRole('searchbox', { name: 'Search entries' }).fill('kiosk');
  await expect(register.getByRole('row')).toHaveCount(2);
  await page.getByRole('button', { name: 'Show all' }).click();

  await page.getByRole('button', { name: 'New entry' }).click();
  await page.getByRole('combobox', { name: 'Account', exact: true }).selectOption({ label: 'Purse (EUR)' });
  const form = page.getByRole('form', { name: 'New entry' });
  await fillEntryForm(form, { payee: 'Bakery', amount: '3*1.20' });
  await form.getByRole('button', { name: 'Add entry' }).click();
  await expect(ledgerRow(page, 'Bakery')).toContainText('Purse');
  await expect(ledgerRow(page, 'Bakery')).toContainText('-€3.60');
});
