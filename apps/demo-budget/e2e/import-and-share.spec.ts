import { expect, test } from './harness/test.ts';
import { serverDatabase } from './harness/server-database.ts';
import { addAccount, expectBalance, fillAccountForm, openAccount } from './steps/accounts.ts';
import { ledgerRow, ledgerText } from './steps/entries.ts';
import { chooseFile, importPreviewed, samples } from './steps/import.ts';
import { goTo, shareLink } from './steps/navigation.ts';
import { expectUpToDate, openSyncPage } from './steps/sync.ts';

test('a 2,000-row statement imported by one user gives the same balances to another user who opens the share link', async ({
  newPerson,
  server,
}) => {
  const { page: anna } = await newPerson();
  await goTo(anna, 'Import');
  await fillAccountForm(anna, { name: 'Harbour', currency: 'USD', opening: '5126.44' });
  await chooseFile(anna, samples.harbour);
  await expect(anna.getByRole('region', { name: 'Import', exact: true })).toContainText('2,000 new entries.');
  await importPreviewed(anna, 2000);
  await anna.getByRole('link', { name: 'Go to Harbour' }).click();
  // The statement's last line states this balance.
  await expectBalance(anna, '$1,032.55', '2,000 entries');
  await expectUpToDate(anna);

  const link = await shareLink(anna);
  const { page: ben } = await newPerson({ link });
  await expect(ben.getByRole('link', { name: /Harbour/ })).toContainText('2,000 entries');
  await expect(ben.getByRole('link', { name: /Harbour/ })).toContainText('$1,032.55');
  for (const page of [anna, ben]) {
    await openAccount(page, 'Harbour');
    await expect(ledgerRow(page, 'Lantern Tram Company').first()).toContainText('$1,032.55');
  }
  // Each page shows its rows and figures when its queries have run.
  await expect(async () => expect(await ledgerText(ben)).toEqual(await ledgerText(anna))).toPass();
  const spending = { name: /^Spending by category and month/ };
  for (const page of [anna, ben]) {
    await goTo(page, 'Reports');
    await page.getByText('Show as a table').click();
    await expect(page.getByRole('table', spending)).toBeVisible();
  }
  await expect(async () =>
    expect(await ben.getByRole('table', spending).innerText()).toBe(
      await anna.getByRole('table', spending).innerText(),
    ),
  ).toPass();

  const stored = serverDatabase(server.dataFolder, link);
  expect(stored.rows('SELECT count(*) AS entries, sum(amountMinor) AS together FROM entries')).toEqual([
    { entries: 2000, together: 103_255 - 512_644 },
  ]);
});

test('a statement imported by two offline users is stored once, without conflicts to resolve', async ({
  newPerson,
}) => {
  const anna = await newPerson({ keepsAppFiles: true });
  await addAccount(anna.page, { name: 'Giro', currency: 'EUR', opening: '1842.10' });
  await expectUpToDate(anna.page);
  const ben = await newPerson({ link: await shareLink(anna.page), keepsAppFiles: true });
  await expect(ben.page.getByRole('link', { name: /Giro/ })).toBeVisible();
  for (const person of [anna, ben]) {
    await person.goOffline();
    await chooseFile(person.page, samples.meridian);
    await importPreviewed(person.page, 355);
    await person.page.getByRole('link', { name: 'Go to Giro' }).click();
  }
  for (const person of [anna, ben]) {
    await person.goOnline();
    await expectUpToDate(person.page);
  }
  for (const { page } of [anna, ben]) {
    await expectBalance(page, '€5,097.34', '355 entries');
    await openSyncPage(page);
    await expect(page.getByText('No open conflicts.')).toBeVisible();
  }
});
