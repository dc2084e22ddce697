import type { Locator } from 'playwright/test';
import { expect, test, type Person } from './harness/test.ts';
import { addAccount } from './steps/accounts.ts';
import { toast } from './steps/entries.ts';
import { goTo, shareLink } from './steps/navigation.ts';

test('the note of an envelope that another person changes shows in an open field, and leaving the field keeps it', async ({
  newPerson,
}) => {
  const anna = await newPerson();
  await addAccount(anna.page, { name: 'Household', currency: 'EUR' });
  const ben = await newPerson({ link: await shareLink(anna.page) });
  for (const { page } of [anna, ben]) {
    await goTo(page, 'Budget');
    await page.getByRole('button', { name: 'Goal for Groceries' }).click();
  }
  const noteOf = ({ page }: Person): Locator => page.getByRole('textbox', { name: 'Note on Groceries' });
  await noteOf(anna).focus();
  await noteOf(ben).fill('for two');
  await noteOf(ben).blur();
  await expect(noteOf(anna)).toHaveValue('for two');
  await noteOf(anna).blur();
  await expect(toast(anna.page)).toBeEmpty();
  await noteOf(anna).fill('for three');
  await noteOf(anna).blur();
  await expect(toast(anna.page)).toContainText('Note saved.');
  await expect(noteOf(ben)).toHaveValue('for three');
});
