import { attachPicture } from './harness/pictures.ts';
import { expect, test } from './harness/test.ts';
import { setClockSpeed, workerClock } from './harness/worker-clock.ts';
import { addAccount } from './steps/accounts.ts';
import { addEntry } from './steps/entries.ts';
import { expectUpToDate, openSyncPage } from './steps/sync.ts';

/**
 * The client waits half a minute for the server, more than once; at this speed those waits take seconds. The clock runs
 * at this speed only while the server is silent: a busy machine needs the real limits to open a budget and connect.
 */
const TIMES_AS_FAST = 10;

test('a server that welcomes a client but never confirms a change is reported, with the time of the next attempt, until it responds', async ({
  newPerson,
}) => {
  const { page, gateway } = await newPerson({ scriptPrefix: workerClock });
  await addAccount(page, { name: 'Household', currency: 'EUR' });
  await expectUpToDate(page);
  gateway.loseWhatIsSent('after-greeting');
  await addEntry(page, { payee: 'Market', amount: '20' });
  await openSyncPage(page);
  await setClockSpeed(page, TIMES_AS_FAST);
  const stuck = page.getByText(
    /^The server does not acknowledge your changes \(tried \d+ times\); sending them again next\.$/,
  );
  await expect(stuck).toBeVisible();
  await expect(page.getByRole('main')).toContainText(/Waiting to sync\s*1 change/);
  await attachPicture(page, 'stuck');

  await setClockSpeed(page, 1);
  gateway.restore();
  await expectUpToDate(page);
  await expect(stuck).toBeHidden();
});

test('a server that accepts the connection and stays silent is distinguished from an unreachable one', async ({
  newPerson,
}) => {
  const { page, gateway } = await newPerson({ scriptPrefix: workerClock });
  await addAccount(page, { name: 'Household', currency: 'EUR' });
  await expectUpToDate(page);
  await openSyncPage(page);
  gateway.loseWhatIsSent('beginning');
  await setClockSpeed(page, TIMES_AS_FAST);
  const state = page.getByRole('region', { name: 'Status' });
  await expect(state).toContainText('The server accepts the connection but does not respond.');
  await setClockSpeed(page, 1);
  gateway.cut();
  await expect(state).toContainText('The server is unreachable.');
  gateway.restore();
  await expectUpToDate(page);
});
