import { readFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from './harness/test.ts';
import { addAccount, expectBalance, openAccount } from './steps/accounts.ts';
import { addEntry } from './steps/entries.ts';
import { goTo } from './steps/navigation.ts';

test('everything exports as CSV, JSON and the SQLite file, without a network, and the file opens as a budget', async ({
  newPerson,
}) => {
  const { page, goOffline, goOnline } = await newPerson({ keepsAppFiles: true });
  await addAccount(page, { name: 'Household', currency: 'EUR' });
  await addEntry(page, { payee: 'Market', amount: '20.50' });
  await goOffline();
  await goTo(page, 'Import');
  await page.getByRole('link', { name: 'Export' }).click();
  const save = async (title: string): Promise<string> => {
    const started = page.waitForEvent('download');
    await page.getByRole('button', { name: `Save ${title}` }).click();
    const saved = await started;
    await expect(page.getByText(`${saved.suggestedFilename()} is in your downloads.`)).toBeVisible();
    return await saved.path();
  };

  expect(readFileSync(await save('Entries as CSV'), 'utf8')).toContain(',Household,Market,,,-20.50,EUR,open,');
  const { tables } = JSON.parse(readFileSync(await save('Everything as JSON'), 'utf8')) as {
    tables: { entries: object[] };
  };
  expect(tables.entries).toMatchObject([{ payee: 'Market', amountMinor: -2050 }]);
  const file = await save('SQLite database');
  const database = new DatabaseSync(file, { readOnly: true });
  expect(database.prepare('SELECT payee, amountMinor FROM entries').all()).toEqual([
    { payee: 'Market', amountMinor: -2050 },
  ]);
  database.close();

  await goOnline();
  const own = page.url();
  const saved = page.getByLabel('Saved budget');
  await saved.setInputFiles({ name: 'bank.csv', mimeType: 'text/csv', buffer: Buffer.from('Date,Payee,Amount') });
  await expect(page.getByRole('main').getByRole('alert')).toContainText('not a saved budget');
  // The address changes first, and then the app reloads the page.
  const reloaded = page.waitForEvent('load');
  await saved.setInputFiles(file);
  await reloaded;
  expect(page.url()).not.toBe(own);
  await openAccount(page, 'Household');
  await expectBalance(page, '-€20.50', '1 entry');
});
