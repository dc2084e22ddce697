import { expect, test } from './harness/test.ts';
import { addAccount, expectBalance, openAccount } from './steps/accounts.ts';
import { ledgerRow } from './steps/entries.ts';
import { chooseFile, importPreviewed } from './steps/import.ts';

test("a row is corrected in the preview, and the account's next statement is read with the same settings", async ({
  newPerson,
}) => {
  const { page } = await newPerson();
  await addAccount(page, { name: 'Card', currency: 'EUR' });
  await chooseFile(page, {
    name: 'may.csv',
    contents: 'When,Who,How much\n05/04/2025,Coffee,3.50\nsoon,Rent,900\n05/05/2025,Tea,1.00\n',
  });
  await page.getByLabel('Date order').selectOption({ label: '12/31/2025 (month first)' });
  await page.getByLabel('Flip signs').check();
  await page.getByRole('button', { name: 'Correct row 3' }).click();
  const correction = page.getByRole('form', { name: 'Correct row 3' });
  await correction.getByLabel('When').fill('05/06/2025');
  await correction.getByRole('button', { name: 'Correct' }).click();
  await importPreviewed(page, 3);
  await openAccount(page, 'Card');
  await expect(ledgerRow(page, 'Rent')).toContainText('6 May 2025');
  await expectBalance(page, '-€904.50', '3 entries');

  await chooseFile(page, { name: 'june.csv', contents: 'When,Note,How much,Who\n06/04/2025,,4.50,Coffee\n' });
  await expect(page.getByText('Using the settings of the last statement of Card.')).toBeVisible();
  await importPreviewed(page, 1);
  await openAccount(page, 'Card');
  await expect(ledgerRow(page, 'Coffee').first()).toContainText('4 Jun 2025');
  await expectBalance(page, '-€909.00', '4 entries');
});
