import type { Page } from 'playwright/test';
import { expect, test } from './harness/test.ts';
import { addAccount, openAccount } from './steps/accounts.ts';
import { addEntry, ledgerRow } from './steps/entries.ts';
import { goTo } from './steps/navigation.ts';
import { expectUpToDate, syncBadge } from './steps/sync.ts';

/** A link that lets one person in. */
async function invite(page: Page, role: 'viewer' | 'editor' | 'owner'): Promise<string> {
  await goTo(page, 'Share');
  await page.getByRole('combobox', { name: 'As', exact: true }).selectOption(role);
  await page.getByRole('button', { name: 'Make a link' }).click();
  return await page.getByRole('textbox', { name: 'Invitation' }).inputValue();
}

test('a viewer sees what an owner enters and changes nothing; as an editor they do; removed, they get nothing more', async ({ newPerson }) => {
  const { page: anna } = await newPerson();
  await addAccount(anna, { name: 'Household', currency: 'EUR', opening: '100' });
  await addEntry(anna, { payee: 'Market', amount: '20' });
  await expectUpToDate(anna);

  const { page: ben } = await newPerson({ link: await invite(anna, 'viewer') });
  await ben.getByLabel('Your name').fill('Ben');
  await ben.getByRole('button', { name: 'Join' }).click();
  await expect(ben.getByText('You may look at this budget')).toBeVisible();
  await expect(ben.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Import' })).toHaveCount(0);
  await openAccount(ben, 'Household');
  await expect(ledgerRow(ben, 'Market')).toContainText('-€20.00');
  await openAccount(anna, 'Household');
  await addEntry(anna, { payee: 'Kiosk', amount: '3' });
  await expect(ledgerRow(ben, 'Kiosk')).toContainText('-€3.00');
  await addEntry(ben, { payee: 'Not allowed', amount: '1' });
  await expect(ben.getByRole('alert')).toContainText('nothing was changed');
  await expect(ledgerRow(ben, 'Not allowed')).toHaveCount(0);

  await goTo(anna, 'Share');
  await anna.getByLabel('What Ben may do').selectOption('editor');
  await expect(anna.getByLabel('What Ben may do')).toHaveValue('editor');
  await ben.reload();
  await expect(ben.getByText('You may look at this budget')).toBeHidden();
  await addEntry(ben, { payee: 'Allowed', amount: '1' });
  await openAccount(anna, 'Household');
  await expect(ledgerRow(anna, 'Allowed')).toBeVisible();
  await expectUpToDate(ben);

  await goTo(anna, 'Share');
  await anna.getByRole('button', { name: 'Remove Ben' }).click();
  await expect(anna.getByText('Nobody has been invited yet.')).toBeVisible();
  await expect(syncBadge(ben)).toHaveText(/No access|Sync stopped/);
  await expect(ledgerRow(ben, 'Market')).toBeVisible();
});

test('an invitation works once', async ({ newPerson }) => {
  const { page: anna } = await newPerson();
  await addAccount(anna, { name: 'Household', currency: 'EUR' });
  await expectUpToDate(anna);
  const link = await invite(anna, 'editor');
  const { page: ben } = await newPerson({ link });
  await ben.getByLabel('Your name').fill('Ben');
  await ben.getByRole('button', { name: 'Join' }).click();
  await openAccount(ben, 'Household');

  const { page: carla } = await newPerson({ link });
  await carla.getByLabel('Your name').fill('Carla');
  await carla.getByRole('button', { name: 'Join' }).click();
  await expect(carla.getByRole('alert')).toContainText('was used already');

  await goTo(ben, 'Share');
  await ben.getByRole('button', { name: 'Leave' }).click();
  await expect(ben.getByRole('heading', { name: 'A budget that lives on your device' })).toBeVisible();
  await goTo(anna, 'Share');
  await expect(anna.getByText('Nobody has been invited yet.')).toBeVisible();
});
