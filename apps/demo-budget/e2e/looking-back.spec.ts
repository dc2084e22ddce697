import type { Locator, Page } from 'playwright/test';
import { attachPicture } from './harness/pictures.ts';
import { expect, test } from './harness/test.ts';
import { addAccount, expectBalance, openAccount } from './steps/accounts.ts';
import { addEntry, changeEntry, entryButton, ledgerRow, splitInto, toast } from './steps/entries.ts';
import { goTo } from './steps/navigation.ts';
import { invite, join } from './steps/share.ts';
import { expectUpToDate } from './steps/sync.ts';

function historyOf(page: Page, name: string): Locator {
  return page.getByRole('region', { name: new RegExp(`^History of ${name}`) });
}

/** Opens the history of a payee's entry from its form, with the keyboard. */
async function openHistory(page: Page, payee: string): Promise<Locator> {
  await entryButton(page, payee).focus();
  await page.keyboard.press('Enter');
  await page.getByRole('form', { name: 'Edit entry' }).getByRole('button', { name: 'History' }).press('Enter');
  const history = historyOf(page, payee);
  await expect(history.getByRole('button', { name: 'Close' })).toBeFocused();
  return history;
}

test('the history of an entry shows who changed what, restores values and deleted entries; the whole budget can be viewed at a past moment', async ({
  newPerson,
}) => {
  const anna = await newPerson({ keepsAppFiles: true });
  const look = async (name: string): Promise<void> => await attachPicture(anna.page, name);
  await addAccount(anna.page, { name: 'Household', currency: 'EUR', opening: '1000' });
  await addEntry(anna.page, { payee: 'Market', amount: '42.50', date: '2025-01-03', category: 'Groceries' });
  await expectUpToDate(anna.page);
  const ben = await newPerson({ link: await invite(anna.page, 'editor') });
  await join(ben.page, 'Ben');
  await openAccount(ben.page, 'Household');
  await changeEntry(ben.page, 'Market', { amount: '45', notes: 'with cheese' });
  await expectUpToDate(ben.page);
  await openAccount(anna.page, 'Household');
  await expect(ledgerRow(anna.page, 'Market')).toContainText('with cheese');

  await entryButton(anna.page, 'Market').click();
  const form = anna.page.getByRole('form', { name: 'Edit entry' });
  await splitInto(form, [
    { category: 'Groceries', amount: '30' },
    { category: 'Home', amount: '15' },
  ]);
  await form.getByRole('button', { name: 'Save' }).click();
  await expect(form).toBeHidden();
  await expectUpToDate(anna.page);

  const history = await openHistory(anna.page, 'Market');
  const moments = history.getByRole('list').getByRole('listitem');
  await expect(moments).toHaveCount(3);
  await expect(moments.nth(0)).toContainText('This device');
  await expect(moments.nth(0)).toContainText('Part 1Groceries, -€30.00');
  await expect(moments.nth(1)).toContainText('Ben');
  await expect(moments.nth(1)).toContainText('Amountfrom -€42.50 → to -€45.00');
  await expect(moments.nth(1)).toContainText('Memofrom nothing → to with cheese');
  await expect(moments.nth(2)).toContainText('Added');
  await expect(moments.nth(2)).toContainText('CategoryGroceries');
  await look('history of an entry');

  // Restores one value of the first version: the category, without its amount and memo.
  await moments.nth(2).getByRole('button', { name: 'Restore …' }).click();
  const restore = history.getByRole('form', { name: 'Restore values' });
  await expect(restore.getByRole('checkbox', { name: /^Amount/ })).toBeFocused();
  await look('restore form');
  await restore.getByRole('checkbox', { name: /^Amount/ }).uncheck();
  await restore.getByRole('checkbox', { name: /^Memo/ }).uncheck();
  await restore.getByRole('button', { name: 'Restore' }).click();
  await expect(moments).toHaveCount(4);
  await expect(moments.nth(0)).toContainText('Categoryfrom no category → to Groceries');
  await expect(toast(anna.page)).toContainText('Restored.');
  await expectUpToDate(anna.page);

  // The entry is deleted, found and restored.
  await anna.page.keyboard.press('Escape');
  await expect(entryButton(anna.page, 'Market')).toBeFocused();
  await entryButton(anna.page, 'Market').click();
  await anna.page.getByRole('form', { name: 'Edit entry' }).getByRole('button', { name: 'Delete' }).click();
  await expectUpToDate(anna.page);
  await expect(ben.page.getByText('No entries yet.')).toBeVisible();
  await anna.page.getByRole('link', { name: 'Deleted entries' }).click();
  const deleted = anna.page.getByRole('list', { name: 'Deleted entries' });
  await deleted.getByRole('button', { name: 'History of Market, 3 Jan 2025' }).click();
  await expect(historyOf(anna.page, 'Market').getByRole('listitem').first()).toContainText('Deleted');
  await look('deleted entries');
  await historyOf(anna.page, 'Market').getByRole('button', { name: 'Close' }).click();
  await deleted.getByRole('button', { name: 'Restore Market, 3 Jan 2025' }).click();
  await expect(anna.page.getByText('No deleted entries.')).toBeVisible();
  await expect(ledgerRow(ben.page, 'Market')).toContainText('with cheese');
  await expectUpToDate(anna.page);

  // Shows the whole budget as it was after the first version.
  await openAccount(anna.page, 'Household');
  await (
    await openHistory(anna.page, 'Market')
  )
    .getByRole('listitem')
    .last()
    .getByRole('link', { name: 'Budget at this time' })
    .click();
  const banner = anna.page.getByRole('status', { name: 'Past state' });
  await expect(banner).toContainText('The budget as it was');
  await openAccount(anna.page, 'Household');
  await expectBalance(anna.page, '€957.50', '1 entry');
  await expect(ledgerRow(anna.page, 'Market')).not.toContainText('with cheese');
  await expect(anna.page.getByRole('button', { name: 'New entry' })).toHaveCount(0);
  await look('past ledger');
  await goTo(anna.page, 'Budget');
  await expect(anna.page.getByRole('table', { name: /^Budget of/ })).toBeVisible();
  await expect(anna.page.getByRole('textbox', { name: /^Assigned to/ })).toHaveCount(0);
  await look('past budget');
  await banner.getByRole('link', { name: 'Back to today' }).click();
  await expect(anna.page.getByRole('textbox', { name: 'Assigned to Groceries' })).toBeVisible();

  // Chooses a day before the budget began, and looks back without the server.
  await goTo(anna.page, 'Look back');
  await anna.page.getByLabel('The budget as it was').fill('2020-03-01');
  await anna.page.getByRole('button', { name: 'Show' }).click();
  await expect(anna.page.getByRole('alert')).toContainText('This budget did not exist on 1 Mar 2020');
  await look('before the beginning');
  await anna.goOffline();
  await anna.page.getByLabel('The budget as it was').fill('2020-03-02');
  await anna.page.getByRole('button', { name: 'Show' }).click();
  await expect(anna.page.getByRole('alert')).toContainText('the server, which cannot be reached');
  await expect(anna.page.getByRole('button', { name: 'Try again' })).toBeVisible();
  await anna.goOnline();
  await anna.page.getByRole('link', { name: 'Back to today' }).click();

  // A viewer sees only today's budget.
  await goTo(anna.page, 'Share');
  await anna.page.getByRole('combobox', { name: /Ben/ }).selectOption('viewer');
  await goTo(ben.page, 'Look back');
  await expect(ben.page.getByText('Viewers see only today’s budget.')).toBeVisible();
});
