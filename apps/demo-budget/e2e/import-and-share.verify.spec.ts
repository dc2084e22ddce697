import { expect, test } from './harness/test.ts';
import { addAccount, expectBalance } from './steps/accounts.ts';
import { ledgerRow } from './steps/entries.ts';
import { chooseFile, importPreviewed, samples } from './steps/import.ts';
import { shareLink } from './steps/navigation.ts';
import { expectUpToDate } from './steps/sync.ts';

test('importing the same statement again, on either device, adds nothing', async ({ newPerson }) => {
  const { page: anna } = await newPerson();
  await addAccount(anna, { name: 'Giro', currency: 'EUR', opening: '1842.10' });
  await chooseFile(anna, samples.meridian);
  await importPreviewed(anna, 355);
  await anna.getByRole('link', { name: 'Go to Giro' }).click();
  await expectBalance(anna, '€5,097.34', '355 entries');
  await expect(ledgerRow(anna, 'Bäckerei Hollerblüh').first()).toBeVisible();
  await expectUpToDate(anna);

  const { page: ben } = await newPerson({ link: await shareLink(anna) });
  await expect(ben.getByRole('link', { name: /Giro/ })).toContainText('355 entries');
  for (const page of [anna, ben]) {
    await chooseFile(page, samples.meridian);
    await expect(page.getByRole('region', { name: 'Import', exact: true })).toContainText(
      '355 rows are already imported',
    );
    await expect(page.getByRole('button', { name: 'Import 0 entries' })).toBeDisabled();
  }
});
