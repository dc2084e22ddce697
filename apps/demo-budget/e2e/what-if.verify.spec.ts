import { attachPicture } from './harness/pictures.ts';
import { expect, test } from './harness/test.ts';
import { addAccount, expectBalance, openAccount } from './steps/accounts.ts';
import { addEntry, changeEntry, ledgerRow } from './steps/entries.ts';
import { assign } from './steps/envelopes.ts';
import { goTo, shareLink } from './steps/navigation.ts';
import { expectUpToDate } from './steps/sync.ts';
import { banner } from './steps/what-if.ts';

test('a what-if for next month survives a reload, can be compared with today, and syncs nothing before it is applied', async ({
  newPerson,
}) => {
  const { page, newTab } = await newPerson();
  const look = async (name: string): Promise<void> => await attachPicture(page, name);
  await addAccount(page, { name: 'Household', currency: 'EUR', opening: '1000' });
  await addEntry(page, { payee: 'Rent', amount: '600', category: 'Home' });
  await expectUpToDate(page);
  const other = await newPerson({ link: await shareLink(page) });
  await goTo(page, 'What if');
  await look('start');
  await page.getByRole('button', { name: 'Start a what-if' }).click();
  await expect(banner(page)).toBeVisible();
  await assign(page, 'Groceries', '300');
  await openAccount(page, 'Household');
  await changeEntry(page, 'Rent', { amount: '650' });
  await addEntry(page, { payee: 'New bike', amount: '400', date: '2031-01-05', category: 'Transport' });
  await look('what-if ledger');

  await page.reload();
  await expect(banner(page)).toBeVisible();
  await expectBalance(page, '-€50.00', '2 entries');
  await banner(page).getByRole('link', { name: 'Back to today' }).click();
  await openAccount(page, 'Household');
  await expectBalance(page, '€400.00', '1 entry');
  await expectUpToDate(page);
  await changeEntry(page, 'Rent', { amount: '620' });
  await openAccount(other.page, 'Household');
  await expectBalance(other.page, '€380.00', '1 entry');

  await goTo(page, 'What if');
  await page.getByRole('link', { name: 'Compare with today' }).click();
  const effect = page.getByRole('table', { name: /^Available in/ });
  await expect(effect.getByRole('row', { name: /^Groceries/ })).toContainText('€0.00€300.00+€300.00');
  await expect(effect.getByRole('row', { name: /^Ready to assign/ })).toContainText('€380.00€50.00-€330.00');
  const differs = page.getByRole('region', { name: 'What differs' }).getByRole('listitem');
  await expect(differs).toHaveCount(3);
  await expect(differs.filter({ hasText: 'New entry: New bike, 5 Jan 2031' })).toContainText('Amount-€400.00');
  await look('comparison with a conflict');
  await page.getByRole('button', { name: 'Apply to the budget' }).click();
  await expect(page.getByRole('alert')).toContainText('Decide each conflict first.');
  const conflict = page.getByRole('group', { name: /^Entry: Rent, .* · Amount$/ });
  await expect(conflict.getByRole('radio', { name: 'Today: -€620.00' })).not.toBeChecked();
  await conflict.getByRole('radio', { name: 'What if: -€650.00' }).check();
  await page.getByRole('button', { name: 'Apply to the budget' }).click();
  await expect(page.getByRole('status').filter({ hasText: 'applied' })).toBeVisible();
  await expect(banner(page)).toHaveCount(0);
  await look('applied');
  await expectBalance(other.page, '-€50.00', '2 entries');
  await expect(ledgerRow(other.page, 'New bike')).toBeVisible();
  await page.getByRole('button', { name: 'Undo' }).click();
  await expectBalance(other.page, '€380.00', '1 entry');

  // Another what-if, which is also open in another tab, is discarded.
  await page.getByRole('button', { name: 'Start a what-if' }).click();
  await assign(page, 'Groceries', '50');
  const tab = await newTab();
  await tab.goto(page.url());
  await expect(tab.getByRole('textbox', { name: 'Assigned to Groceries' })).toHaveValue('50.00');
  await banner(page).getByRole('link', { name: 'Compare with today' }).click();
  await page.getByRole('button', { name: 'Discard …' }).click();
  await page.getByRole('button', { name: 'Discard it' }).click();
  await expect(page.getByRole('status').filter({ hasText: 'discarded' })).toBeVisible();
  await expect(tab.getByRole('alert')).toContainText('in another tab');
});
