import { expect, test } from './harness/test.ts';
import { addAccount, openAccount } from './steps/accounts.ts';
import { addEntry, ledgerRow } from './steps/entries.ts';
import { expectUpToDate } from './steps/sync.ts';

test.use({ hasOwnServer: true });

test('after the first visit the app starts offline in any tab and sends offline entries once the network returns', async ({
  newPerson,
  server,
}) => {
  const { page, newTab, gateway, goOffline, goOnline } = await newPerson({ keepsAppFiles: true });
  await addAccount(page, { name: 'Household', currency: 'EUR' });
  await expectUpToDate(page);
  await page.evaluate(async () => void (await navigator.serviceWorker.ready));
  const address = page.url();
  await server.kill('SIGTERM');
  await goOffline();

  await page.reload();
  await openAccount(page, 'Household');
  await addEntry(page, { payee: 'Kiosk', amount: '2' });
  const second = await newTab();
  await second.goto(address);
  await openAccount(second, 'Household');
  await expect(ledgerRow(second, 'Kiosk')).toBeVisible();
  // The address without a budget, as opened from the home-screen icon.
  await second.goto(gateway.url);
  await expect(second.getByRole('main').getByRole('link', { name: 'Household' })).toBeVisible();
  await second.close();

  await server.start();
  await goOnline();
  await expectUpToDate(page);
});
