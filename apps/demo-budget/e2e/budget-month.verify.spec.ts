import { expect, test } from './harness/test.ts';
import { addAccount } from './steps/accounts.ts';
import { addEntry } from './steps/entries.ts';
import { assign } from './steps/envelopes.ts';
import { goTo } from './steps/navigation.ts';

test('the month-end walk leads through reconciling, categories, overspending and assigning', async ({ newPerson }) => {
  const { page } = await newPerson();
  await addAccount(page, { name: 'Household', currency: 'EUR', opening: '1000' });
  await addEntry(page, { payee: 'Market', amount: '42.50', category: 'Groceries' });
  await addEntry(page, { payee: 'Kiosk', amount: '3' });
  await goTo(page, 'Budget');
  const walk = page.getByRole('group').filter({ hasText: 'Month-end walk' });
  await page.getByText('Month-end walk: 1 of 4 done').click();
  await expect(walk.getByRole('listitem').filter({ hasText: 'Categorize' })).toContainText('€3.00 without a category');
  await expect(walk.getByRole('listitem').filter({ hasText: 'Assign' })).toContainText('left to assign');
  await walk.getByRole('button', { name: 'Cover Groceries' }).click();
  await page
    .getByRole('form')
    .getByRole('button', { name: /^(Cover|Move)/ })
    .first()
    .waitFor();
  await page.keyboard.press('Escape');
  await assign(page, 'Groceries', '42.50');
  await expect(page.getByText('Month-end walk: 2 of 4 done')).toBeVisible();
  // Nothing was spent in earlier months, so the average of three months is not offered.
  await expect(page.getByRole('button', { name: 'Average of three months' })).toHaveCount(0);
});
