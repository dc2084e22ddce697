import { longDeadlines } from './harness/long-deadlines.ts';
import { expect, test } from './harness/test.ts';
import { addAccount } from './steps/accounts.ts';
import { addEntry } from './steps/entries.ts';
import { expectUpToDate, openSyncPage, syncBadge } from './steps/sync.ts';

test('the user can retry at once when the network returns', async ({ newPerson }) => {
  // From the second attempt on, the time until the next one is 2.5 s or more; here it is minutes.
  const { page, gateway } = await newPerson({ scriptPrefix: longDeadlines });
  await addAccount(page, { name: 'Household', currency: 'EUR', opening: '100' });
  await expectUpToDate(page);
  gateway.cut();
  await addEntry(page, { payee: 'Offline', amount: '3' });
  await expect(syncBadge(page)).toHaveText('Offline · 1 to sync');
  await openSyncPage(page);
  // The announced time of the next attempt has passed, so no attempt follows by itself during this test.
  await expect
    .poll(() =>
      page.evaluate(() => {
        const { reason, waitingFor } = rockpool.status.current;
        return waitingFor === null && Number(reason?.fields['nextAttemptMs'] ?? Infinity) < Date.now();
      }),
    )
    .toBe(true);
  gateway.restore();
  await page.getByRole('button', { name: 'Try now' }).click();
  await expectUpToDate(page);
});
