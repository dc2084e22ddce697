import { expect, test } from './harness/test.ts';
import { addAccount } from './steps/accounts.ts';
import { addEntry } from './steps/entries.ts';
import { expectUpToDate, openSyncPage, syncBadge } from './steps/sync.ts';

test('a pause applies to every tab and survives a reload, and writes made during it are sent when it ends', async ({
  newPerson,
}) => {
  const { page, newTab } = await newPerson();
  await addAccount(page, { name: 'Household', currency: 'EUR', opening: '100' });
  await expectUpToDate(page);
  const ledger = page.url();
  await openSyncPage(page);
  await page.getByRole('button', { name: 'Pause sync' }).click();
  await expect(syncBadge(page)).toHaveText('Paused');

  const other = await newTab();
  await other.goto(ledger);
  await expect(syncBadge(other)).toHaveText('Paused');
  await addEntry(other, { payee: 'While paused', amount: '3' });
  await expect(syncBadge(other)).toHaveText('Paused · 1 to sync');
  await expect(syncBadge(page)).toHaveText('Paused · 1 to sync');

  await other.close();
  await page.reload();
  await openSyncPage(page);
  await expect(syncBadge(page)).toHaveText('Paused · 1 to sync');
  await expect(page.getByRole('button', { name: 'Try now' })).toBeDisabled();
  await page.getByRole('button', { name: 'Resume sync' }).click();
  await expectUpToDate(page);
});

/** When the button is pressed, the next automatic attempt is at least this far away. */
const FAR_AWAY_MS = 1_500;

test('the user can retry at once when the network returns', async ({ newPerson }) => {
  const { page, gateway } = await newPerson();
  await addAccount(page, { name: 'Household', currency: 'EUR', opening: '100' });
  await expectUpToDate(page);
  gateway.cut();
  await addEntry(page, { payee: 'Offline', amount: '3' });
  await expect(syncBadge(page)).toHaveText('Offline · 1 to sync');
  await openSyncPage(page);
  await expect(page.getByRole('button', { name: 'Try now' })).toBeEnabled();
  await page.exposeFunction('restoreNetwork', () => gateway.restore());
  await page.exposeFunction('cutNetwork', () => gateway.cut());
  // On a busy machine the automatic attempt may happen before the button is pressed; the test then tries again.
  const attemptedBefore = await page.evaluate(async (farAwayMs) => {
    const { restoreNetwork, cutNetwork } = window as unknown as Record<
      'restoreNetwork' | 'cutNetwork',
      () => Promise<void>
    >;
    const until = (condition: () => boolean): Promise<void> =>
      new Promise((resolve) => {
        const look = (): void => void (condition() ? resolve() : requestAnimationFrame(look));
        look();
      });
    const nextAttemptMs = (): number => Number(rockpool.status.current.reason?.fields['nextAttemptMs'] ?? 0);
    const button = [...document.querySelectorAll('button')].find(({ textContent }) => textContent === 'Try now');
    for (let round = 0; round < 20; round++) {
      await until(() => nextAttemptMs() - Date.now() > farAwayMs && rockpool.status.current.waitingFor === null);
      const next = nextAttemptMs();
      await restoreNetwork();
      button?.click();
      await until(() => rockpool.status.current.waitingFor !== null || rockpool.status.current.state === 'up-to-date');
      if (Date.now() < next) return true;
      await cutNetwork();
    }
    return false;
  }, FAR_AWAY_MS);
  expect(attemptedBefore).toBe(true);
  await expectUpToDate(page);
});
