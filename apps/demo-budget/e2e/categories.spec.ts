import { expect, test } from './harness/test.ts';
import { addAccount, openAccount } from './steps/accounts.ts';
import { addEntry, ledgerRow, toast } from './steps/entries.ts';
import { goTo } from './steps/navigation.ts';

test('categories can be grouped, reordered (also by dragging) and deleted, which moves their entries', async ({
  newPerson,
}) => {
  const { page } = await newPerson();
  await addAccount(page, { name: 'Household', currency: 'EUR', opening: '1000' });
  await addEntry(page, { payee: 'Zoo', amount: '20', category: 'Children' });
  await goTo(page, 'Categories');
  await page.getByLabel('Group of Home').selectOption({ label: 'New group …' });
  await page.getByLabel('New group for Home').fill('Fixed');
  await page.keyboard.press('Enter');
  const fixed = page.getByRole('list', { name: 'Fixed' });
  await expect(fixed.getByLabel('Name of Home')).toBeVisible();
  const handleOf = (name: string): ReturnType<typeof page.locator> =>
    page
      .getByRole('listitem')
      .filter({ has: page.getByLabel(`Name of ${name}`) })
      .locator('.drag-handle');
  await handleOf('Bills and insurance').dragTo(fixed.getByLabel('Name of Home'));
  await expect(fixed.getByRole('listitem')).toHaveCount(2);
  await expect(fixed.getByRole('listitem').first().getByLabel('Name of Bills and insurance')).toBeVisible();
  await page.getByRole('button', { name: 'Move Bills and insurance down' }).click();
  await expect(fixed.getByRole('listitem').first().getByLabel('Name of Home')).toBeVisible();
  await goTo(page, 'Budget');
  await expect(page.getByRole('rowheader', { name: 'Fixed', exact: true })).toBeVisible();
  await page.getByRole('button', { name: 'Goal for Home' }).click();
  await page.getByLabel('Note on Home').fill('Rent rises in May');
  await page.getByLabel('Note on Home').blur();
  await expect(page.getByRole('table', { name: /^Budget of/ })).toContainText('Rent rises in May');

  await goTo(page, 'Categories');
  await page.getByRole('button', { name: 'Delete Children …' }).click();
  const form = page.getByRole('form', { name: 'Delete Children' });
  await expect(form).toContainText('Move 1 entry');
  await form.getByRole('combobox').selectOption({ label: 'Leisure' });
  await form.getByRole('button', { name: 'Delete Children' }).click();
  await expect(page.getByLabel('Name of Children')).toHaveCount(0);
  await openAccount(page, 'Household');
  await expect(ledgerRow(page, 'Zoo').getByRole('combobox')).toHaveValue('starter-leisure');
  await page.keyboard.press('Control+z');
  await expect(toast(page)).toContainText('Undone.');
  await expect(ledgerRow(page, 'Zoo').getByRole('combobox')).toHaveValue('starter-children');
});
