import { expect, test } from './harness/test.ts';
import { addAccount } from './steps/accounts.ts';
import { goTo, shareLink } from './steps/navigation.ts';
import { expectUpToDate } from './steps/sync.ts';

test('the history of a note shows what each person wrote, and restores a version; a category has one too', async ({
  newPerson,
}, testInfo) => {
  const anna = await newPerson();
  const look = async (name: string): Promise<void> =>
    await testInfo.attach(name, { body: await anna.page.screenshot(), contentType: 'image/png' });
  const note = anna.page.getByRole('textbox', { name: 'Notes of this budget' });
  await addAccount(anna.page, { name: 'Household', currency: 'EUR', opening: '1000' });
  await goTo(anna.page, 'Notes');
  await anna.page.getByRole('button', { name: 'Start writing' }).click();
  await note.click();
  await anna.page.keyboard.type('A week at the lake');
  await expectUpToDate(anna.page);
  const ben = await newPerson({ link: await shareLink(anna.page) });
  await goTo(ben.page, 'Notes');
  await ben.page.getByRole('textbox', { name: 'Notes of this budget' }).click();
  await ben.page.keyboard.press('Control+End');
  await ben.page.keyboard.type(' in July');
  await expectUpToDate(ben.page);

  await goTo(anna.page, 'Notes');
  await expect(note).toContainText('A week at the lake in July');
  await anna.page.getByRole('button', { name: 'History', exact: true }).press('Enter');
  const history = anna.page.getByRole('region', { name: 'History of Notes of this budget' });
  const versions = history.getByRole('listitem');
  await expect(versions).toHaveCount(2);
  await expect(versions.nth(0)).toContainText('Another device');
  await versions.nth(0).getByRole('button', { name: 'Show' }).press('Enter');
  await expect(versions.nth(0).getByRole('insertion')).toContainText('in July');
  await look('history of a note');
  await versions.nth(1).getByRole('button', { name: 'Show' }).press('Enter');
  await expect(versions.nth(1).getByRole('document')).toContainText('A week at the lake');
  await versions.nth(1).getByRole('button', { name: 'Restore' }).press('Enter');
  await expect(note).toHaveText('A week at the lake');
  await expect(versions).toHaveCount(3);
  await expect(ben.page.getByRole('textbox', { name: 'Notes of this budget' })).toHaveText('A week at the lake');
  await anna.page.keyboard.press('Escape');
  await expect(anna.page.getByRole('button', { name: 'History', exact: true })).toBeFocused();

  await goTo(anna.page, 'Budget');
  const field = anna.page.getByRole('textbox', { name: 'Assigned to Groceries' });
  await field.fill('40');
  await field.press('Enter');
  await anna.page.getByRole('button', { name: 'Goal for Groceries' }).click();
  await anna.page.getByLabel('Note on Groceries').fill('for two');
  await anna.page.getByText('History of Groceries').click();
  const moments = anna.page.getByRole('region', { name: 'History of Groceries' }).getByRole('listitem');
  await expect(moments).toHaveCount(3);
  await expect(moments.nth(0)).toContainText('Notefrom nothing → to for two');
  await expect(moments.nth(1)).toContainText('€40.00');
  await look('history of a category');
  await moments.nth(2).getByRole('button', { name: 'Restore' }).click();
  await expect(moments.nth(0)).toContainText('Notefrom for two → to nothing');
});
