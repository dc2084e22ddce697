import { expect, test } from './harness/test.ts';
import { addAccount, expectBalance, openAccount } from './steps/accounts.ts';
import { addEntry, toast } from './steps/entries.ts';
import { chooseFile, importPreviewed } from './steps/import.ts';
import { assign } from './steps/envelopes.ts';
import { goTo } from './steps/navigation.ts';
import { banner } from './steps/what-if.ts';

test('the undo shortcut undoes a what-if that was applied, and not the import before it', async ({ newPerson }) => {
  const { page } = await newPerson();
  await addAccount(page, { name: 'Household', currency: 'EUR', opening: '1000' });
  await chooseFile(page, { name: 'bank.csv', contents: 'Date,Payee,Amount\n2025-02-01,Baker,-2.00\n' });
  await importPreviewed(page, 1);
  await goTo(page, 'What if');
  await page.getByRole('button', { name: 'Start a what-if' }).click();
  await assign(page, 'Groceries', '300');
  await banner(page).getByRole('link', { name: 'Compare with today' }).click();
  await page.getByRole('button', { name: 'Apply to the budget' }).click();
  await expect(page.getByRole('status').filter({ hasText: 'applied' })).toBeVisible();
  await page.keyboard.press('Control+z');
  await expect(toast(page)).toContainText('Undone.');
  // Undone already.
  await page.getByRole('main').getByRole('button', { name: 'Undo', exact: true }).click();
  await openAccount(page, 'Household');
  // A wrong undo would be done by the time a later write is.
  await addEntry(page, { payee: 'Kiosk', amount: '3' });
  await expectBalance(page, '€995.00', '2 entries');
});
