import { expect, test } from './harness/test.ts';
import { addAccount, openAccount } from './steps/accounts.ts';
import { toast } from './steps/entries.ts';
import { goTo } from './steps/navigation.ts';
import { expectUpToDate } from './steps/sync.ts';

test('one click opens a sample budget that fills every page and is separate from the user’s own; another click closes it', async ({
  newPerson,
}) => {
  const { page } = await newPerson();
  await page.getByRole('button', { name: 'Explore a sample budget' }).click();
  const notice = page.getByText('This is a sample');
  await expect(notice).toBeVisible();
  await expect(page.getByRole('main')).toContainText('Total in EUR');
  await page.keyboard.press('Control+z');
  await expect(toast(page)).toContainText('There is nothing to undo.');
  await openAccount(page, 'Credit card');
  await expect(page.getByRole('table', { name: 'Entries of Credit card' })).toContainText('From Household');
  await goTo(page, 'Budget');
  await expect(page.getByRole('table', { name: /^Budget of / })).toContainText('£1,180.00 each month');
  await goTo(page, 'Reports');
  await expect(page.getByRole('group', { name: /each month/ })).toBeVisible();
  await goTo(page, 'Notes');
  await expect(page.getByRole('textbox', { name: 'Notes of this budget' })).toContainText('a week at the lake');
  await expectUpToDate(page);
  await page.reload();
  await expect(notice).toBeVisible();

  await page.getByRole('button', { name: 'Leave the sample' }).click();
  await page.getByRole('button', { name: 'Keep it' }).click();
  await expect(notice).toBeVisible();
  await page.getByRole('button', { name: 'Leave the sample' }).click();
  await page.getByRole('button', { name: 'Delete the sample' }).click();
  await expect(page.getByRole('heading', { name: 'A budget that lives on your device' })).toBeVisible();
  await expect(notice).toBeHidden();
  await addAccount(page, { name: 'My own', currency: 'EUR', opening: '100' });
  await goTo(page, 'Share');
  await expect(page.getByText('a sample')).toHaveCount(0);
});

test('undo never removes the starting content of a new budget', async ({ newPerson }) => {
  const { page } = await newPerson();
  await expect(page.getByRole('heading', { name: 'A budget that lives on your device' })).toBeVisible();
  await page.keyboard.press('Control+z');
  await expect(toast(page)).toContainText('There is nothing to undo.');
  await goTo(page, 'Categories');
  await expect(page.getByLabel('Name of Groceries')).toBeVisible();
});
