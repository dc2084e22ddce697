import type { Page } from 'playwright/test';
import { longDeadlines } from './harness/long-deadlines.ts';
import { progressWatch, takeProgressShown } from './harness/progress-watch.ts';
import { expect, test } from './harness/test.ts';
import { addAccount } from './steps/accounts.ts';
import { toast } from './steps/entries.ts';

const entryCount = 20_000;

test.describe('a selection of 20,000 entries', () => {
  test('has all entries from the first click, and shows the progress of its change and undo', async ({ newPerson }) => {
    // A transaction may take eight seconds.
    const { page } = await newPerson({ scriptPrefix: progressWatch + longDeadlines });
    await openLongLedger(page);
    await selectAll(page);
    await expect(page.getByRole('toolbar').getByText('-€20,000.00')).toBeVisible();
    await takeProgressShown(page);
    // Does not wait for anything: the bar already shows all entries.
    await chooseLeisure(page);
    await expect(toast(page)).toContainText('20,000 entries changed.');
    await expect.poll(() => categorised(page)).toBe(entryCount);
    // React may skip rendering any of the ten progress values, so one of them is enough.
    const shown = await takeProgressShown(page);
    expect(shown.map(({ label }) => label)).toContainEqual(
      expect.stringMatching(/^Changing the category: [\d,]+ of 20,000$/),
    );
    await expect(page.getByText('20,000 selected')).toBeVisible();

    await toast(page).getByRole('button', { name: 'Undo' }).click();
    await expect(toast(page)).toContainText('Undone.');
    await expect.poll(() => categorised(page)).toBe(0);
    expect((await takeProgressShown(page)).map(({ label }) => label)).toContain('Undoing …');
  });

  test('changes nothing if its change is stopped', async ({ newPerson }) => {
    const { page } = await newPerson({ scriptPrefix: longDeadlines });
    await openLongLedger(page);
    await selectAll(page);
    await page.evaluate(() => {
      new MutationObserver(() => {
        const stop = [...document.querySelectorAll('button')].find(({ textContent }) => textContent === 'Stop');
        stop?.click();
      }).observe(document.body, { childList: true, subtree: true });
    });
    await chooseLeisure(page);
    await expect(toast(page)).toContainText('Stopped. Nothing was changed.');
    await expect.poll(() => categorised(page)).toBe(0);
  });
});

async function openLongLedger(page: Page): Promise<void> {
  await addAccount(page, { name: 'Checking', currency: 'EUR' });
  await page.evaluate(async (count) => {
    const { rockpool } = globalThis;
    await rockpool.execute(
      `INSERT INTO entries (id, accountId, date, payee, amountMinor, enteredAtMs)
       WITH RECURSIVE counter (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM counter WHERE n < ${count})
       SELECT 'entry-' || n, (SELECT id FROM accounts), date('2026-01-31', '-' || (n % 600) || ' days'), 'Payee ' || (n % 50), -100, n FROM counter`,
    );
  }, entryCount);
  await expect(page.getByText('20,000 entries')).toBeVisible();
}

async function selectAll(page: Page): Promise<void> {
  await page
    .getByRole('checkbox', { name: /^Select / })
    .first()
    .click();
  await page.getByRole('button', { name: 'Select all 20,000' }).click();
}

async function chooseLeisure(page: Page): Promise<void> {
  await page.getByRole('combobox', { name: 'Category of the selected entries' }).selectOption({ label: 'Leisure' });
}

async function categorised(page: Page): Promise<number> {
  const [row] = await page.evaluate(() =>
    globalThis.rockpool.query<{ n: number }>('SELECT count(*) AS n FROM entries WHERE categoryId IS NOT NULL'),
  );
  return row?.n ?? -1;
}
