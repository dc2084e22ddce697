import { attachPicture } from './harness/pictures.ts';
import { expect, test } from './harness/test.ts';
import { slowTextsShown, slowTextWatch } from './harness/slow-text-watch.ts';
import { changeableStorage, holdFiles, refusedStorage, setStorage } from './harness/storage-faults.ts';
import { addAccount, expectBalance, openAccount } from './steps/accounts.ts';
import { addEntry, fillEntryForm, ledgerRow } from './steps/entries.ts';
import { shareLink } from './steps/navigation.ts';
import { expectUpToDate, openSyncPage } from './steps/sync.ts';

test('a window that stores nothing shows a warning; a user who continues anyway is warned of data loss, and the server receives the writes', async ({
  newPerson,
}) => {
  const { page } = await newPerson({ scriptPrefix: refusedStorage });
  await expect(page.getByRole('alert')).toContainText('This is a private window');
  await attachPicture(page, 'refused');
  await page.getByRole('button', { name: 'Continue without saving on this device' }).click();
  await expect(page.getByText('Nothing is saved on this device')).toBeVisible();
  await addAccount(page, { name: 'Household', currency: 'EUR', opening: '100' });
  await addEntry(page, { payee: 'Market', amount: '20' });
  await expectUpToDate(page);
  await openSyncPage(page);
  await expect(page.getByRole('main')).toContainText('No, only until this tab closes');
  await attachPicture(page, 'kept nowhere');

  const elsewhere = await newPerson({ link: await shareLink(page) });
  await openAccount(elsewhere.page, 'Household');
  await expect(ledgerRow(elsewhere.page, 'Market')).toContainText('-€20.00');
  await expect(elsewhere.page.getByText('Nothing is saved on this device')).toBeHidden();
});

test('a full device keeps the text typed in the form, explains the remedy, and saves once storage is freed', async ({
  newPerson,
}) => {
  const { page } = await newPerson({ scriptPrefix: changeableStorage });
  await addAccount(page, { name: 'Household', currency: 'EUR', opening: '100' });
  await addEntry(page, { payee: 'Before', amount: '1' });
  await expectUpToDate(page);
  await setStorage(page, 'full');
  await page.getByRole('button', { name: 'New entry' }).click();
  const form = page.getByRole('form', { name: 'New entry' });
  await fillEntryForm(form, { payee: 'Market', amount: '20', notes: 'a long list' });
  await form.getByRole('button', { name: 'Add entry' }).click();
  await expect(page.getByRole('alert')).toContainText('This device is out of space, so this change was not saved');
  await expect(form.getByLabel('Memo')).toHaveValue('a long list');
  await attachPicture(page, 'full');
  await expectBalance(page, '€99.00', '1 entry');

  await setStorage(page, 'none');
  await form.getByRole('button', { name: 'Add entry' }).click();
  await expect(form).toBeHidden();
  await expect(page.getByRole('alert')).toBeHidden();
  await expectBalance(page, '€79.00', '2 entries');
  await expectUpToDate(page);
  await page.reload();
  await expectBalance(page, '€79.00', '2 entries');
});

test('storage locked by another program is reported, and a button retries opening', async ({ newPerson }) => {
  const { newTab, page, gateway } = await newPerson({ scriptPrefix: slowTextWatch });
  await addAccount(page, { name: 'Household', currency: 'EUR', opening: '100' });
  await expectUpToDate(page);
  const link = page.url();
  await page.goto('about:blank');
  const release = await holdFiles(await newTab(), gateway.url);
  await page.goto(link);
  await expect(page.getByRole('alert')).toContainText('Close other windows of this page');
  expect(await slowTextsShown(page)).toContainEqual(expect.stringContaining('Opening the budget'));
  await attachPicture(page, 'held');
  await release();
  await page.getByRole('button', { name: 'Try again' }).click();
  await expectBalance(page, '€100.00', '0 entries');
});
