import type { Page } from 'playwright/test';
import { expect, test } from './harness/test.ts';
import { addAccount, expectBalance, openAccount } from './steps/accounts.ts';
import { addEntry } from './steps/entries.ts';
import { goTo } from './steps/navigation.ts';
import { expectUpToDate } from './steps/sync.ts';

test('an exported JSON or SQLite file opens as a new budget; any other file changes nothing', async ({ newPerson }) => {
  const { page } = await newPerson();
  await addAccount(page, { name: 'Household', currency: 'EUR', opening: '100' });
  await addEntry(page, { payee: 'Market', amount: '20.50', category: 'Groceries' });
  await expectUpToDate(page);
  const own = page.url();
  const toExport = async (): Promise<void> => {
    await goTo(page, 'Import');
    await page.getByRole('link', { name: 'Export' }).click();
  };
  for (const title of ['Everything as JSON', 'SQLite database']) {
    await openAgain(page, own);
    await toExport();
    const started = page.waitForEvent('download');
    await page.getByRole('button', { name: `Save ${title}` }).click();
    const file = await (await started).path();
    // The address changes first, and then the app reloads the page.
    const reloaded = page.waitForEvent('load');
    await page.getByLabel('Saved budget').setInputFiles(file);
    await reloaded;
    expect(own).not.toContain(new URLSearchParams(new URL(page.url()).hash.slice(1)).get('budget') ?? own);
    await openAccount(page, 'Household');
    await expectBalance(page, '€79.50', '1 entry');
    await expect(page.getByLabel('Category of Market')).toHaveValue('starter-groceries');
    // The copy is independent of the original, on the server as well.
    await addEntry(page, { payee: 'Kiosk', amount: '1' });
    await expectUpToDate(page);
  }
  await openAgain(page, own);
  await openAccount(page, 'Household');
  await expectBalance(page, '€79.50', '1 entry');
  await toExport();
  const alert = page.getByRole('main').getByRole('alert');
  for (const [name, contents, words] of [
    ['bank.csv', 'Date,Payee,Amount', 'not a saved budget'],
    ['budget.json', '{"format":"rockpool-budget-1","tables":{"accounts":[{"id":', 'is incomplete'],
    [
      'budget.json',
      '{"format":"rockpool-budget-1","tables":{"entries":[{"id":"e","accountId":"nobody","date":"2025-01-01","amountMinor":1,"enteredAtMs":1}]}}',
      'is inconsistent',
    ],
    ['budget.sqlite', 'SQLite format 3\u0000 and then nothing', 'Nothing|nothing'],
  ] as const) {
    await page
      .getByLabel('Saved budget')
      .setInputFiles({ name, mimeType: 'application/octet-stream', buffer: Buffer.from(contents) });
    await expect(alert).toContainText(new RegExp(words));
  }
  await goTo(page, 'Share');
  await expect(page.getByText('created here')).toHaveCount(2);
});

/**
 * Opens another budget of this device. From a budget, its address alone would only change the hash: the app then
 * reloads the page, and until that the old page, which looks the same, can be clicked.
 */
async function openAgain(page: Page, address: string): Promise<void> {
  await page.goto('about:blank');
  await page.goto(address);
}
