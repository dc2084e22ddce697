import type { Page } from 'playwright/test';
import { expect, test } from './harness/test.ts';
import { openKillableChromium, type KillableChromium } from './harness/chromium.ts';
import { isThorough } from './harness/level.ts';
import { makeFolder, removeFolder } from './harness/folders.ts';
import { openGateway } from './harness/gateway.ts';
import { serverDatabase } from './harness/server-database.ts';
import { addAccount, openAccount } from './steps/accounts.ts';
import { addEntry, ledgerRow } from './steps/entries.ts';
import { shareLink } from './steps/navigation.ts';
import { expectUpToDate } from './steps/sync.ts';

/** The number of kills. They alternate: before the write can have been sent, and while it may be in transit. */
const killCount = isThorough ? 10 : 2;

interface KillableDevice {
  readonly page: Page;
  /** Kills the browser and reopens it with the same profile. */
  killAndReopen(): Promise<void>;
}

test('a resolved write survives killing the browser right after it, and syncs', async ({ server }) => {
  const gateway = await openGateway({ serverPort: server.port });
  await withKillableDevice(async (device) => {
    await device.page.goto(gateway.url);
    await addAccount(device.page, { name: 'Cash', currency: 'EUR' });
    await expectUpToDate(device.page);
    const link = await shareLink(device.page);

    for (let round = 1; round <= killCount; round++) {
      // In odd rounds, the server cannot have received the write; in even rounds, the browser is killed while it sends
      // the write.
      if (round % 2 === 1) gateway.refuseSync();
      await writeEntry(device.page, `Round ${round}.`);
      await device.killAndReopen();
      // Sync is off, so that everything shown comes from this device.
      gateway.refuseSync();
      await device.page.goto(link);
      await openAccount(device.page, 'Cash');
      await expect(
        device.page.getByRole('table', { name: 'Entries of Cash' }).getByRole('button', { name: /^Edit Round/ }),
      ).toHaveCount(round);
      await expect(ledgerRow(device.page, `Round ${round}.`)).toContainText('-€1.00');

      gateway.restore();
      await expectUpToDate(device.page);
      expect(
        serverDatabase(server.dataFolder, link).value(`SELECT count(*) FROM entries WHERE payee = 'Round ${round}.'`),
      ).toBe(1);
    }
    expect(
      serverDatabase(server.dataFolder, link).rows(
        'SELECT count(*) AS entries, count(DISTINCT payee) AS payees FROM entries',
      ),
    ).toEqual([{ entries: killCount, payees: killCount }]);
  });
  await gateway.close();
});

test('the address without a link reopens a budget created just before the browser was killed', async ({ server }) => {
  const gateway = await openGateway({ serverPort: server.port });
  await withKillableDevice(async (device) => {
    await device.page.goto(gateway.url);
    await addAccount(device.page, { name: 'Purse', currency: 'EUR' });
    await addEntry(device.page, { payee: 'Kiosk', amount: '1' });
    await expect(ledgerRow(device.page, 'Kiosk')).toBeVisible();
    await device.killAndReopen();
    await device.page.goto(gateway.url);
    await openAccount(device.page, 'Purse');
    await expect(ledgerRow(device.page, 'Kiosk')).toBeVisible();
  });
  await gateway.close();
});

async function withKillableDevice(use: (device: KillableDevice) => Promise<void>): Promise<void> {
  const profile = makeFolder('profile');
  let browser: KillableChromium = await openKillableChromium(profile);
  try {
    let page = await browser.context.newPage();
    await use({
      get page() {
        return page;
      },
      async killAndReopen() {
        await browser.kill();
        browser = await openKillableChromium(profile);
        page = await browser.context.newPage();
      },
    });
  } finally {
    await browser.kill();
    removeFolder(profile);
  }
}

/** Resolves exactly when the write has resolved. */
async function writeEntry(page: Page, payee: string): Promise<void> {
  await page.evaluate(async (payeeInPage) => {
    const [account] = await rockpool.query<{ id: string }>('SELECT id FROM accounts');
    await rockpool.execute(
      'INSERT INTO entries (id, accountId, date, payee, amountMinor, enteredAtMs) VALUES (?, ?, ?, ?, ?, ?)',
      [crypto.randomUUID(), account?.id ?? '', '2025-06-01', payeeInPage, -100, Date.now()],
    );
  }, payee);
}
