import type { Page } from 'playwright/test';
import { attachPicture } from './harness/pictures.ts';
import { expect, test } from './harness/test.ts';
import { passTime } from './harness/shifted-clock.ts';
import { addAccount, openAccount } from './steps/accounts.ts';
import { addEntry, changeEntry, ledgerRow } from './steps/entries.ts';
import { changeOffline, clearlyLaterMs } from './steps/offline.ts';
import { goTo, shareLink } from './steps/navigation.ts';
import { invite, join } from './steps/share.ts';
import { conflicts, expectUpToDate, openSyncPage } from './steps/sync.ts';

test('a conflict names both authors and is dismissed for both', async ({ newPerson }) => {
  const anna = await newPerson();
  await addAccount(anna.page, { name: 'Household', currency: 'EUR' });
  await addEntry(anna.page, { payee: 'Baker', amount: '1' });
  await goTo(anna.page, 'Share');
  await anna.page.getByLabel('The name that others see').fill('Anna');
  await anna.page.getByRole('button', { name: 'Save name' }).click();
  await expectUpToDate(anna.page);
  const ben = await newPerson({ link: await invite(anna.page, 'editor'), clockAheadMs: 0, keepsAppFiles: true });
  await join(ben.page, 'Ben');
  await openAccount(anna.page, 'Household');
  await openAccount(ben.page, 'Household');
  await expect(ledgerRow(ben.page, 'Baker')).toBeVisible();

  await ben.goOffline();
  await changeOffline(ben, 'Baker', { notes: 'rolls' }, 1);
  await passTime(ben.page, clearlyLaterMs);
  await changeEntry(anna.page, 'Baker', { notes: 'bread' });
  await expectUpToDate(anna.page);
  await ben.goOnline();
  await openSyncPage(ben.page);
  await expect(conflicts(ben.page)).toContainText('bread from Anna replaced rolls from this device');
  await openSyncPage(anna.page);
  await expect(conflicts(anna.page)).toContainText('bread from this device replaced rolls from Ben');
  await conflicts(anna.page).getByRole('button', { name: 'Dismiss' }).click();
  for (const { page } of [anna, ben]) {
    await expect(conflicts(page)).toHaveCount(0);
    await expect(page.getByTestId('conflict-badge')).toHaveCount(0);
  }
});

test('a lost write to a goal, a rule, a scheduled entry or an entry’s state is listed with author, time and reason, and can be restored', async ({
  newPerson,
}) => {
  const anna = await newPerson();
  await addAccount(anna.page, { name: 'Household', currency: 'EUR', opening: '1000' });
  await addEntry(anna.page, { payee: 'Baker', amount: '1' });
  await setGoal(anna.page, '400');
  await schedule(anna.page, 'New scheduled entry', '600');
  await setRule(anna.page, 'New rule', 'market');
  await expectUpToDate(anna.page);
  const ben = await newPerson({ link: await shareLink(anna.page), clockAheadMs: 0, keepsAppFiles: true });
  await openAccount(ben.page, 'Household');
  await expect(ledgerRow(ben.page, 'Baker')).toBeVisible();
  await expectUpToDate(ben.page);

  await ben.goOffline();
  await setGoal(ben.page, '300');
  await schedule(ben.page, 'Edit scheduled entry', '550');
  await setRule(ben.page, 'Edit rule', 'shop');
  await passTime(ben.page, clearlyLaterMs);
  await setGoal(anna.page, '500');
  await schedule(anna.page, 'Edit scheduled entry', '650');
  await setRule(anna.page, 'Edit rule', 'store');
  await expectUpToDate(anna.page);
  await ben.goOnline();
  await expectUpToDate(ben.page);

  await openSyncPage(ben.page);
  await expect(conflicts(ben.page)).toHaveCount(3);
  const goal = conflicts(ben.page).filter({ hasText: 'Goal for Groceries' });
  await expect(goal).toContainText(
    '€500.00 each month from another device replaced €300.00 each month from this device',
  );
  await expect(goal).toContainText('the later change won');
  await attachPicture(ben.page, 'conflicts', { fullPage: true });
  await goal.getByRole('button', { name: 'Restore €300.00 each month' }).click();
  await conflicts(ben.page)
    .filter({ hasText: 'Scheduled: Landlord' })
    .getByRole('button', { name: 'Restore -€550.00' })
    .click();
  await conflicts(ben.page)
    .filter({ hasText: 'Rule “' })
    .getByRole('button', { name: 'Restore the payee contains “shop”' })
    .click();
  await expect(conflicts(ben.page)).toHaveCount(0);
  await goTo(anna.page, 'Budget');
  await expect(anna.page.getByRole('table', { name: /^Budget of / })).toContainText('€300.00 each month');
  await goTo(anna.page, 'Scheduled');
  await expect(anna.page.getByRole('main')).toContainText('-€550.00');
  await goTo(anna.page, 'Payees');
  await expect(anna.page.getByRole('main')).toContainText('If the payee contains “shop”');
});

async function setRule(page: Page, form: 'New rule' | 'Edit rule', value: string): Promise<void> {
  await goTo(page, 'Payees');
  await page.getByRole('button', { name: form === 'New rule' ? form : /^Edit the rule/ }).click();
  const fields = page.getByRole('form', { name: form });
  await fields.getByLabel('Value of condition 1').fill(value);
  await fields.getByLabel('Set the category to').selectOption({ label: 'Groceries' });
  await fields.getByRole('button', { name: /^(Add rule|Save)$/ }).click();
  await expect(fields).toBeHidden();
}

async function setGoal(page: Page, amount: string): Promise<void> {
  await goTo(page, 'Budget');
  await page.getByRole('button', { name: 'Goal for Groceries' }).click();
  const form = page.getByRole('form', { name: 'Goal for Groceries' });
  await form.getByLabel(/^Amount in /).fill(amount);
  await form.getByRole('button', { name: 'Save goal' }).click();
  await expect(form).toBeHidden();
}

async function schedule(
  page: Page,
  form: 'New scheduled entry' | 'Edit scheduled entry',
  amount: string,
): Promise<void> {
  await goTo(page, 'Scheduled');
  await page.getByRole('button', { name: form === 'New scheduled entry' ? form : 'Edit Landlord' }).click();
  const fields = page.getByRole('form', { name: form });
  await fields.getByLabel('Payee').fill('Landlord');
  await fields.getByLabel(/^Amount in /).fill(amount);
  await fields.getByRole('button', { name: /^(Add|Save)$/ }).click();
  await expect(fields).toBeHidden();
}
