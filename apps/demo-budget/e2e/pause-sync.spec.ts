import { expect, test } from './harness/test.ts';
import { addAccount } from './steps/accounts.ts';
import { addEntry } from './steps/entries.ts';
import { expectUpToDate, openSyncPage, syncBadge } from './steps/sync.ts';

test('a pause holds in every tab and over a reload, and what was written meanwhile is sent when it is over', async ({ newPerson }) => {
  const { page, context } = await newPerson();
  await addAccount(page, { name: 'Household', currency: 'EUR', opening: '100' });
  await expectUpToDate(page);
  const ledger = page.url();
  await openSyncPage(page);
  await page.getByRole('button', { name: 'Pause sync' }).click();
  await expect(syncBadge(page)).toHaveText('Paused');

  const other = await context.newPage();
  await other.goto(ledger);
  await expect(syncBadge(other)).toHaveText('Paused');
  await addEntry(other, { payee: 'While paused', amount: '3' });
  await expect(syncBadge(other)).toHaveText('Paused · 1 to send');
  await expect(syncBadge(page)).toHaveText('Paused · 1 to send');

  await other.close();
  await page.reload();
  await openSyncPage(page);
  await expect(syncBadge(page)).toHaveText('Paused · 1 to send');
  await expect(page.getByRole('button', { name: 'Try now' })).toBeDisabled();
  await page.getByRole('button', { name: 'Resume sync' }).click();
  await expectUpToDate(page);
});

/** Attempts come ever more rarely: the next one is that far away before the button is pressed, so that it was not that one. */
const FAR_AWAY_MS = 5_000;

test('somebody whose network is back need not wait for the next attempt', async ({ newPerson }) => {
  const { page, gateway } = await newPerson();
  await addAccount(page, { name: 'Household', currency: 'EUR', opening: '100' });
  await expectUpToDate(page);
  gateway.cut();
  await addEntry(page, { payee: 'Offline', amount: '3' });
  await expect(syncBadge(page)).toHaveText('Offline · 1 to send', { timeout: 60_000 });
  await openSyncPage(page);
  const nextAttemptInMs = (): Promise<number> => page.evaluate(() => Number(rockpool.status.reason?.fields['nextAttemptMs'] ?? 0) - Date.now());
  await expect.poll(nextAttemptInMs, { timeout: 60_000 }).toBeGreaterThan(FAR_AWAY_MS);
  await expect(page.getByRole('button', { name: 'Try now' })).toBeEnabled();
  gateway.restore();
  await page.getByRole('button', { name: 'Try now' }).click();
  await expectUpToDate(page);
});
