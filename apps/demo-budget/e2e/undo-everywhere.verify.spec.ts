import { expect, test } from './harness/test.ts';
import { addAccount } from './steps/accounts.ts';
import { addEntry, changeEntry, ledgerRow, toast } from './steps/entries.ts';

test('an action that changes nothing offers no "Undo", which would undo an earlier action', async ({ newPerson }) => {
  const { page } = await newPerson();
  const undo = toast(page).getByRole('button', { name: 'Undo' });
  await addAccount(page, { name: 'Household', currency: 'EUR' });
  await addEntry(page, { payee: 'Kiosk', amount: '3' });
  await addEntry(page, { payee: 'Baker', amount: '2' });
  await expect(toast(page)).toContainText('Entry added.');
  await expect(undo).toBeVisible();

  // The form writes only differences, and here there are none.
  await changeEntry(page, 'Kiosk', {});
  await expect(toast(page)).toContainText('Nothing changed.');
  await expect(undo).toBeHidden();

  // The statements match no row.
  await page.getByRole('button', { name: 'Reconcile', exact: true }).click();
  await page
    .getByRole('form', { name: 'Reconcile' })
    .getByLabel(/balance on your statement/)
    .fill('0');
  await page.getByRole('button', { name: 'Compare' }).click();
  await page.getByRole('button', { name: 'Finish' }).click();
  await expect(toast(page)).toContainText('Reconciled. No new entries to lock.');
  await expect(undo).toBeHidden();

  // The statement writes the value that is already there.
  await page.getByRole('checkbox', { name: 'Select Kiosk' }).check();
  await page.getByLabel('Status of the selected entries').selectOption({ label: 'Not cleared' });
  await expect(toast(page)).toContainText('Nothing to change.');
  await expect(undo).toBeHidden();

  await changeEntry(page, 'Kiosk', { amount: '4' });
  await expect(toast(page)).toContainText('Entry changed.');
  await undo.click();
  await expect(ledgerRow(page, 'Kiosk')).toContainText('-€3.00');
  await expect(ledgerRow(page, 'Baker')).toBeVisible();
});
