import { expect, test } from './harness/test.ts';
import { addAccount, expectBalance, openAccount } from './steps/accounts.ts';
import { addEntry } from './steps/entries.ts';
import { chooseFile, importPreviewed, samples } from './steps/import.ts';

/** Enough for a small change, not for a statement of 2,000 rows. */
const roomBytes = 65_536;

test('a device without room refuses an import in plain words, keeps what was there, and takes it when there is room again', async ({ newPerson }) => {
  const { page, context } = await newPerson();
  await addAccount(page, { name: 'Harbour', currency: 'USD', opening: '5126.44' });
  await addEntry(page, { payee: 'Before', amount: '1' });
  const devtools = await context.newCDPSession(page);
  const { origin } = new URL(page.url());
  const { usage = 0 } = await page.evaluate(() => navigator.storage.estimate());
  await devtools.send('Storage.overrideQuotaForOrigin', { origin, quotaSize: usage + roomBytes });
  await chooseFile(page, samples.harbour);
  await page.getByRole('button', { name: 'Import 2000 entries' }).click();
  await expect(page.getByRole('alert')).toContainText('There is no room left on this device');

  await devtools.send('Storage.overrideQuotaForOrigin', { origin });
  await openAccount(page, 'Harbour');
  await expectBalance(page, '$5,125.44', '1 entry');
  await chooseFile(page, samples.harbour);
  await importPreviewed(page, 2000);
});
