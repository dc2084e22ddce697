import { expect, test } from './harness/test.ts';
import { addAccount, openAccount } from './steps/accounts.ts';
import { addEntry, fillEntryForm, ledgerRow, splitInto } from './steps/entries.ts';
import { goTo, shareLink } from './steps/navigation.ts';
import { expectUpToDate, syncBadge } from './steps/sync.ts';

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
  const ben = await newPerson({ link: await shareLink(anna.page), keepsAppFiles: true });
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
