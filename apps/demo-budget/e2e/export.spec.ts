import { readFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from './harness/test.ts';
import { addAccount } from './steps/accounts.ts';
import { addEntry } from './steps/entries.ts';
import { goTo } from './steps/navigation.ts';

test('everything exports as CSV, JSON and the SQLite file, without a network', async ({ newPerson }) => {
  const { page, goOffline } = await newPerson();
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
  const database = new DatabaseSync(await save('SQLite database'), { readOnly: true });
  expect(database.prepare('SELECT payee, amountMinor FROM entries').all()).toEqual([
    { payee: 'Market', amountMinor: -2050 },
  ]);
  database.close();
});
