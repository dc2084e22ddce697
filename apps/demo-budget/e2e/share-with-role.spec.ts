import type { Page } from 'playwright/test';
import { expect, test } from './harness/test.ts';
import { addAccount, openAccount } from './steps/accounts.ts';
import { addEntry, entryButton, ledgerRow } from './steps/entries.ts';
import { goTo, shareLink } from './steps/navigation.ts';
import { invite, join } from './steps/share.ts';
import { expectUpToDate, syncBadge } from './steps/sync.ts';

/** Expects that no control on the page can change the budget, by a click or by typing. */
async function expectNothingToChange(page: Page): Promise<void> {
  const main = page.getByRole('main');
  await expect(main.getByText('You can view this budget')).toBeVisible();
  await expect(
    main.getByRole('button', {
      name: /^(New|Add|Assign|Copy from|Fund|Start|Edit|Close this account|Goal for|Hide|Import|Move|Reconcile|Restore|Select|Skip|Delete)/,
    }),
  ).toHaveCount(0);
  await expect(main.getByRole('checkbox')).toHaveCount(0);
  // The notes are shown read-only where they would be edited.
  await expect(main.getByRole('textbox').and(page.locator(':not([contenteditable="false"])'))).toHaveCount(0);
  await expect(main.getByRole('combobox', { name: /^Category of/ })).toHaveCount(0);
  for (const cleared of await main.getByRole('button', { name: /^(Not c|C)leared: / }).all())
    await expect(cleared).toBeDisabled();
}

test('a viewer sees an owner’s entries and changes nothing; as an editor they can change them; after removal they receive nothing', async ({
  newPerson,
}) => {
  const { page: anna } = await newPerson();
  await addAccount(anna, { name: 'Household', currency: 'EUR', opening: '100' });
  await addEntry(anna, { payee: 'Market', amount: '20', category: 'Groceries' });
  await goTo(anna, 'Notes');
  await anna.getByRole('button', { name: 'Start writing' }).click();
  await goTo(anna, 'Scheduled');
  await anna.getByRole('button', { name: 'New scheduled entry' }).click();
  const scheduled = anna.getByRole('form', { name: 'New scheduled entry' });
  await scheduled.getByLabel('Payee').fill('Landlord');
  await scheduled.getByLabel(/^Amount in /).fill('600');
  await scheduled.getByRole('button', { name: 'Add', exact: true }).click();
  await expectUpToDate(anna);

  const { page: ben, newTab: newTabOfBen } = await newPerson({ link: await invite(anna, 'viewer') });
  await join(ben, 'Ben');
  await expect(ben.getByText('You can view this budget')).toBeVisible();
  await expect(ben.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Import' })).toHaveCount(0);
  await openAccount(ben, 'Household');
  await expect(ledgerRow(ben, 'Market')).toContainText('-€20.00');
  await openAccount(anna, 'Household');
  await addEntry(anna, { payee: 'Kiosk', amount: '3' });
  await expect(ledgerRow(ben, 'Kiosk')).toContainText('-€3.00');
  await expectNothingToChange(ben);
  await ben.keyboard.press('?');
  const keys = ben.getByRole('dialog', { name: 'Keyboard shortcuts' });
  await expect(keys).toContainText('Read the note on an entry');
  await expect(keys).not.toContainText('New entry');
  await keys.getByRole('button', { name: 'Close' }).click();
  await entryButton(ben, 'Market').click();
  await expect(ben.getByRole('region', { name: 'Market' })).toContainText('Groceries');
  await ben.getByRole('button', { name: 'Close' }).click();
  for (const name of ['Accounts', 'Budget', 'Reports', 'Scheduled', 'Notes', 'Categories', 'Payees'] as const) {
    await goTo(ben, name);
    await expect(ben.getByRole('heading', { level: 1, name })).toBeVisible();
    await expectNothingToChange(ben);
  }
  await openAccount(ben, 'Household');
  const secondTab = await newTabOfBen();
  await secondTab.goto(ben.url());
  await expect(ledgerRow(secondTab, 'Kiosk')).toBeVisible();
  await expectNothingToChange(secondTab);

  // On another device, opened by Ben's personal link.
  const { page: phone } = await newPerson({ link: await shareLink(ben) });
  await openAccount(phone, 'Household');
  await expect(ledgerRow(phone, 'Kiosk')).toBeVisible();
  await expectNothingToChange(phone);
  await openAccount(ben, 'Household');

  await goTo(anna, 'Share');
  await anna.getByLabel('Role of Ben').selectOption('editor');
  await expect(anna.getByLabel('Role of Ben')).toHaveValue('editor');
  // While viewing, in every tab.
  for (const tab of [ben, secondTab]) {
    await expect(tab.getByText('You can view this budget')).toBeHidden();
    await expect(tab.getByRole('button', { name: 'New entry' })).toBeVisible();
  }
  await addEntry(ben, { payee: 'Allowed', amount: '1' });
  await expect(ledgerRow(secondTab, 'Allowed')).toBeVisible();
  await openAccount(anna, 'Household');
  await expect(ledgerRow(anna, 'Allowed')).toBeVisible();
  await expectUpToDate(ben);

  await goTo(anna, 'Share');
  await anna.getByLabel('Role of Ben').selectOption('viewer');
  await expect(ben.getByText('You can view this budget')).toBeVisible();
  await expectNothingToChange(ben);
  await anna.getByLabel('Role of Ben').selectOption('editor');
  await expect(ben.getByText('You can view this budget')).toBeHidden();
  await anna.getByRole('button', { name: 'Remove Ben …' }).click();
  await anna.getByRole('button', { name: 'Cancel' }).click();
  await expect(anna.getByLabel('Role of Ben')).toBeVisible();
  await anna.getByRole('button', { name: 'Remove Ben …' }).click();
  await anna.getByRole('button', { name: 'Remove Ben', exact: true }).click();
  await expect(anna.getByText('No other members.')).toBeVisible();
  // In every tab: unsendable edits are disabled, and exporting still works.
  for (const tab of [ben, secondTab]) {
    await expect(tab.getByText('You were removed from this budget')).toBeVisible();
    await expect(tab.getByRole('button', { name: 'New entry' })).toBeHidden();
  }
  await expect(syncBadge(ben)).toHaveText(/No access|Sync stopped/);
  await expect(ledgerRow(ben, 'Market')).toBeVisible();
  await ben.getByRole('main').getByRole('link', { name: 'export' }).click();
  await expect(ben.getByRole('button', { name: 'Save Entries as CSV' })).toBeVisible();
});
