import { isThorough } from './harness/level.ts';
import { slowMs } from './harness/slow-messages.ts';
import { expect, test } from './harness/test.ts';
import { addAccount } from './steps/accounts.ts';
import { addEntry, toast } from './steps/entries.ts';
import { goTo } from './steps/navigation.ts';
import { invite, join } from './steps/share.ts';
import { expectUpToDate } from './steps/sync.ts';

test('a first visit requests each file once, compressed by the build, and requests no missing file', async ({
  newPerson,
}) => {
  test.skip(slowMs > 0, 'the scripts of a slow run are changed, so they are not compressed');
  const { page, gateway } = await newPerson({ isFirstVisit: true });
  await expectUpToDate(page);
  await page.evaluate(async () => void (await navigator.serviceWorker.ready));
  const { answered } = gateway;
  expect(answered.filter(({ status }) => status >= 400)).toEqual([]);
  const counts = Map.groupBy(answered, ({ path }) => path);
  const assets = [...counts.keys()].filter((path) => path.startsWith('/assets/'));
  expect(assets.filter((path) => counts.get(path)?.length !== 1)).toEqual([]);
  expect(assets.filter((path) => /\/(index|entry|wa-sqlite)-[\w-]{8}\.(js|wasm)$/.test(path))).toHaveLength(3);
  // Files smaller than 1 KiB are sent uncompressed.
  const large = /\/assets\/(index|entry|wa-sqlite|document-support|open-document|editor|yjs)-/;
  expect(answered.filter(({ path, contentEncoding }) => large.test(path) && contentEncoding !== 'br')).toEqual([]);
});

test('joining from an invitation shows the named budget without a blank page in between', async ({ newPerson }) => {
  const { page: anna } = await newPerson();
  await addAccount(anna, { name: 'Household', currency: 'EUR', opening: '100' });
  await goTo(anna, 'Share');
  await anna.getByLabel('Name of this budget').fill('Mill Lane 4');
  await anna.getByRole('button', { name: 'Rename budget' }).click();
  await expect(anna.getByRole('link', { name: 'Mill Lane 4' }).first()).toBeVisible();
  await expectUpToDate(anna);
  const { page: ben } = await newPerson({ link: await invite(anna, 'editor') });
  await ben.getByLabel('Your name').waitFor();
  await ben.evaluate(() => {
    Object.assign(globalThis, { blankFrames: 0 });
    const look = (): void => {
      if (document.body.innerText.trim() === '') (globalThis as unknown as { blankFrames: number }).blankFrames += 1;
      requestAnimationFrame(look);
    };
    look();
  });
  await join(ben, 'Ben');
  await expect(ben.getByRole('main').getByRole('link', { name: /Household/ })).toBeVisible();
  await expect(ben.getByRole('link', { name: 'Mill Lane 4' }).first()).toBeVisible();
  // The page was not reloaded, and showed something all the time.
  expect(await ben.evaluate(() => (globalThis as unknown as { blankFrames?: number }).blankFrames)).toBe(0);
});

for (const viewport of [{ width: 1280, height: 800 }, ...(isThorough ? [{ width: 390, height: 844 }] : [])]) {
  test(`toasts cover no form, and the ledger’s tools stay in view, ${viewport.width} px wide`, async ({
    newPerson,
  }) => {
    const { page } = await newPerson({ viewport });
    await addAccount(page, { name: 'Household', currency: 'EUR' });
    await page.evaluate(() =>
      globalThis.rockpool.execute(
        "INSERT INTO entries (id, accountId, date, payee, amountMinor, enteredAtMs) WITH RECURSIVE c (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 300) SELECT 'e' || n, (SELECT id FROM accounts), '2026-01-01', 'Payee', -100, n FROM c",
      ),
    );
    await addEntry(page, { payee: 'Market', amount: '20' });
    await page.getByRole('button', { name: 'New entry' }).click();
    const form = page.getByRole('form', { name: 'New entry' });
    await expect(form).toBeVisible();
    await expect(toast(page).locator('.toast')).toBeVisible();
    // Measured at one moment, because the toast may appear after the form.
    const covers = await form.evaluate((element) => {
      const shown = document.querySelector('[aria-label="Last change"] .toast')?.getBoundingClientRect();
      const { top, bottom } = element.getBoundingClientRect();
      return shown === undefined || (shown.bottom > top && bottom > shown.top);
    });
    expect(covers).toBe(false);
    await page.keyboard.press('Escape');

    await page.getByRole('checkbox').first().click();
    await page.getByRole('button', { name: 'Select all 301' }).click();
    await page.mouse.wheel(0, 4_000);
    await expect(page.getByRole('searchbox')).toBeInViewport();
    if (viewport.width > 1_000) {
      await expect(page.getByRole('columnheader', { name: 'Amount' })).toBeInViewport();
      await expect(page.getByRole('button', { name: 'New entry' })).toBeInViewport();
    }
    const bar = page.getByRole('toolbar', { name: 'Selected entries' });
    await expect(bar).toBeInViewport();
    // On a wide screen, the bar is one row; on a narrow one, the count is above one row of actions.
    expect((await bar.boundingBox())?.height).toBeLessThan(viewport.width > 1_000 ? 60 : 100);
  });
}
