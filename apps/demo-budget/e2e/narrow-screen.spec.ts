import { attachPicture } from './harness/pictures.ts';
import { expect, test } from './harness/test.ts';
import { fillAccountForm, openAccount } from './steps/accounts.ts';
import { addEntry, changeEntry, ledgerRow } from './steps/entries.ts';
import { chooseFile, importPreviewed, samples } from './steps/import.ts';
import { expectCellsInside, expectNoSidewaysScroll } from './steps/layout.ts';
import { goTo } from './steps/navigation.ts';
import { openSyncPage } from './steps/sync.ts';

test('every page fits and works on a phone 360 px wide', async ({ newPerson }) => {
  const { page } = await newPerson({ viewport: { width: 360, height: 740 } });
  const look = async (name: string): Promise<void> => {
    await expectNoSidewaysScroll(page, name);
    await attachPicture(page, name);
  };
  await expect(page.getByRole('heading', { name: 'A budget that lives on your device' })).toBeVisible();
  await look('welcome');
  await goTo(page, 'Import');
  await look('first account');
  await fillAccountForm(page, { name: 'Meridian Giro', currency: 'EUR', opening: '1842.10' });
  await chooseFile(page, samples.meridian);
  await expect(page.getByRole('table', { name: 'Preview' })).toBeVisible();
  await look('preview');
  // The bank's column names are legible and fit the width of the form.
  for (const select of await page.getByRole('region', { name: 'Columns and formats' }).getByRole('combobox').all())
    expect((await select.boundingBox())?.width).toBeGreaterThan(250);
  await importPreviewed(page, 355);
  await openAccount(page, 'Meridian Giro');
  await expect(ledgerRow(page, 'Werkstatt für Tüftelei GmbH').first()).toContainText('+€2,917.33');
  await look('ledger');
  await page.getByRole('button', { name: 'New entry' }).click();
  await look('new entry');
  await page.getByRole('form', { name: 'New entry' }).getByRole('button', { name: 'Cancel' }).click();
  await addEntry(page, { payee: 'Kiosk', amount: '2.50', category: 'Leisure' });
  await changeEntry(page, 'Kiosk', { notes: 'two magazines' });
  await expect(ledgerRow(page, 'Kiosk')).toContainText('two magazines');
  for (const name of [
    'Accounts',
    'Budget',
    'Reports',
    'Scheduled',
    'Notes',
    'Categories',
    'Payees',
    'Share',
  ] as const) {
    await goTo(page, name);
    await expect(page.getByRole('heading', { level: 1, name })).toBeVisible();
    await look(name);
  }
  // Choosing the current page also closes the menu.
  await goTo(page, 'Share');
  await expect(page.getByRole('button', { name: 'More' })).toHaveAttribute('aria-expanded', 'false');
  const tops = await page
    .getByRole('navigation', { name: 'Pages' })
    .locator('> :is(a, button)')
    .evaluateAll((shown) => shown.map((element) => Math.round(element.getBoundingClientRect().top)));
  expect(new Set(tops).size, 'rows of the list of pages').toBe(1);
  await page.getByRole('button', { name: 'More' }).click();
  await look('more pages');
  await goTo(page, 'Import');
  await page.getByRole('link', { name: 'Export' }).click();
  await expect(page.getByRole('heading', { level: 1, name: 'Export' })).toBeVisible();
  await look('Export');
  // Large amounts and long names must fit as well.
  await openAccount(page, 'Meridian Giro');
  await addEntry(page, {
    payee: 'A payee whose name is longer than any phone is wide GmbH & Co. KG',
    amount: '1234567.89',
    notes: 'and notes that do so too',
    category: 'Leisure',
  });
  await look('long names');
  await goTo(page, 'Budget');
  await expect(page.getByRole('table', { name: /^Budget of / })).toContainText('1,234,570.39');
  await expectCellsInside(page.getByRole('table', { name: /^Budget of / }));
  await look('large amounts');
  await openSyncPage(page);
  await look('sync');
});
