import { expect, test } from './harness/test.ts';
import { openKillableChromium, type KillableChromium } from './harness/chromium.ts';
import { makeFolder, removeFolder } from './harness/folders.ts';
import { openGateway } from './harness/gateway.ts';
import { serverDatabase } from './harness/server-database.ts';
import { addAccount, openAccount } from './steps/accounts.ts';
import { ledgerRow } from './steps/entries.ts';
import { shareLink } from './steps/navigation.ts';
import { expectUpToDate } from './steps/sync.ts';

const killCount = 10;

test('a write that had resolved is there when the browser was killed right after it, and syncs, ten times', async ({ server }) => {
  const profile = makeFolder('profile');
  const gateway = await openGateway({ serverPort: server.port });
  let browser: KillableChromium | undefined = await openKillableChromium(profile);
  try {
    let page = await browser.context.newPage();
    await page.goto(gateway.url);
    await addAccount(page, { name: 'Cash', currency: 'EUR' });
    await expectUpToDate(page);
    const link = await shareLink(page);

    for (let round = 1; round <= killCount; round++) {
      // Every other time the server cannot have heard of the write; in between the kill falls into sending it.
      if (round % 2 === 1) gateway.refuseSync();
      await page.evaluate(async (payee) => {
        const [account] = await rockpool.query<{ id: string }>('SELECT id FROM accounts');
        await rockpool.execute('INSERT INTO entries (id, accountId, date, payee, amountMinor, enteredAtMs) VALUES (?, ?, ?, ?, ?, ?)', [
          rockpool.newId(),
          account?.id ?? '',
          '2025-06-01',
          payee,
          -100,
          Date.now(),
        ]);
      }, `Round ${round}.`);
      await browser.kill();

      // Without sync, so that what is shown can only come from this device.
      gateway.refuseSync();
      browser = await openKillableChromium(profile);
      page = await browser.context.newPage();
      await page.goto(link);
      await openAccount(page, 'Cash');
      await expect(page.getByRole('table', { name: 'Entries of Cash' }).getByRole('button', { name: /^Change Round/ })).toHaveCount(round);
      await expect(ledgerRow(page, `Round ${round}.`)).toContainText('-€1.00');

      gateway.restore();
      await expectUpToDate(page);
      expect(serverDatabase(server.dataFolder, link).value(`SELECT count(*) FROM entries WHERE payee = 'Round ${round}.'`)).toBe(1);
    }
    expect(serverDatabase(server.dataFolder, link).rows('SELECT count(*) AS entries, count(DISTINCT payee) AS payees FROM entries')).toEqual([{ entries: killCount, payees: killCount }]);
  } finally {
    await browser?.kill();
    await gateway.close();
    removeFolder(profile);
  }
});
