import { expect, test } from './harness/test.ts';
import { changeableStorage, holdFiles, refusedStorage, setStorage } from './harness/storage-faults.ts';
import { addAccount, expectBalance, openAccount } from './steps/accounts.ts';
import { addEntry, fillEntryForm, ledgerRow } from './steps/entries.ts';
import { shareLink } from './steps/navigation.ts';
import { expectUpToDate, openSyncPage } from './steps/sync.ts';

test('a window that keeps nothing says so; whoever goes on there all the same is told what may be lost, and the server gets it', async ({ newPerson }, testInfo) => {
  const { page } = await newPerson({ scriptPrefix: refusedStorage });
  await expect(page.getByRole('alert')).toContainText('This is a private window');
  await testInfo.attach('refused', { body: await page.screenshot(), contentType: 'image/png' });
  await page.getByRole('button', { name: 'Go on without keeping anything' }).click();
  await expect(page.getByText('Nothing is kept on this device')).toBeVisible();
  await addAccount(page, { name: 'Household', currency: 'EUR', opening: '100' });
  await addEntry(page, { payee: 'Market', amount: '20' });
  await expectUpToDate(page);
  await openSyncPage(page);
  await expect(page.getByRole('main')).toContainText('No: it is gone when this tab closes');
  await testInfo.attach('kept nowhere', { body: await page.screenshot(), contentType: 'image/png' });

  const elsewhere = await newPerson({ link: await shareLink(page) });
  await openAccount(elsewhere.page, 'Household');
  await expect(ledgerRow(elsewhere.page, 'Market')).toContainText('-€20.00');
  await expect(elsewhere.page.getByText('Nothing is kept on this device')).toBeHidden();
});

test('a device without room keeps what was typed in the form, says what to do, and saves it once there is room', async ({ newPerson }, testInfo) => {
  const { page } = await newPerson({ scriptPrefix: changeableStorage });
  await addAccount(page, { name: 'Household', currency: 'EUR', opening: '100' });
  await addEntry(page, { payee: 'Before', amount: '1' });
  await expectUpToDate(page);
  await setStorage(page, 'full');
  await page.getByRole('button', { name: 'New entry' }).click();
  const form = page.getByRole('form', { name: 'New entry' });
  await fillEntryForm(form, { payee: 'Market', amount: '20', notes: 'a long list' });
  await form.getByRole('button', { name: 'Add entry' }).click();
  await expect(page.getByRole('alert')).toContainText('no room left on this device, so this change was not saved');
  await expect(form.getByLabel('Notes')).toHaveValue('a long list');
  await testInfo.attach('full', { body: await page.screenshot(), contentType: 'image/png' });
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

test('storage that another program holds is named, and opening is tried again at a press', async ({ newPerson }, testInfo) => {
  const { context, page, gateway } = await newPerson();
  await addAccount(page, { name: 'Household', currency: 'EUR', opening: '100' });
  await expectUpToDate(page);
  const link = page.url();
  await page.goto('about:blank');
  const release = await holdFiles(context, gateway.url);
  await page.goto(link);
  await expect(page.getByText('The budget is being opened')).toBeVisible();
  await expect(page.getByRole('alert')).toContainText('Close other windows of this page', { timeout: 60_000 });
  await testInfo.attach('held', { body: await page.screenshot(), contentType: 'image/png' });
  await release();
  await page.getByRole('button', { name: 'Try again' }).click();
  await expectBalance(page, '€100.00', '0 entries');
});
