import { fastWorkers } from './harness/fast-workers.ts';
import { expect, test } from './harness/test.ts';
import { addAccount } from './steps/accounts.ts';
import { addEntry } from './steps/entries.ts';
import { expectUpToDate, openSyncPage } from './steps/sync.ts';

/** Patience with a server is half a minute, more than once; so many times as fast it is seconds. */
const TIMES_AS_FAST = 10;

test('a server that greets and never says what became of a change is named, with what is tried next, until it answers', async ({
  newPerson,
}, testInfo) => {
  const { page, gateway } = await newPerson({ scriptPrefix: fastWorkers(TIMES_AS_FAST) });
  await addAccount(page, { name: 'Household', currency: 'EUR' });
  await expectUpToDate(page);
  gateway.loseWhatIsSent('after-greeting');
  await addEntry(page, { payee: 'Market', amount: '20' });
  await openSyncPage(page);
  const stuck = page.getByText(
    /^The server does not acknowledge your changes \(tried \d+ times\); sending them again next\.$/,
  );
  await expect(stuck).toBeVisible({ timeout: 60_000 });
  await expect(page.getByRole('main')).toContainText(/Waiting to sync\s*1 change/);
  await testInfo.attach('stuck', { body: await page.screenshot(), contentType: 'image/png' });

  gateway.restore();
  await expectUpToDate(page);
  await expect(stuck).toBeHidden();
});

test('a server that takes the connection and says nothing at all is told from one that cannot be reached', async ({
  newPerson,
}) => {
  const { page, gateway } = await newPerson({ scriptPrefix: fastWorkers(TIMES_AS_FAST) });
  await addAccount(page, { name: 'Household', currency: 'EUR' });
  await expectUpToDate(page);
  await openSyncPage(page);
  gateway.loseWhatIsSent('beginning');
  const state = page.getByRole('region', { name: 'Status' });
  await expect(state).toContainText('The server accepts the connection but does not respond.', { timeout: 60_000 });
  gateway.cut();
  await expect(state).toContainText('The server is unreachable.', { timeout: 60_000 });
  gateway.restore();
  await expectUpToDate(page);
});
