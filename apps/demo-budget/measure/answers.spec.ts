import type { SqlParam } from '@rockpool/client';
import type { Page } from 'playwright/test';
import { expect, test } from '../e2e/harness/test.ts';
import { openAccount } from '../e2e/steps/accounts.ts';
import { goTo } from '../e2e/steps/navigation.ts';
import { monthAfter } from '../src/calendar/months.ts';
import { accountsWithBalances } from '../src/queries/accounts.ts';
import { activityByMonth } from '../src/queries/envelopes.ts';
import { ledgerTotals, ledgerWindow, wholeLedger } from '../src/queries/ledger.ts';
import { cashFlowByMonth, changeOfAccountsByMonth, spendingByMonth } from '../src/queries/reports.ts';
import { fill } from './fill.ts';
import { paintedScript, type Console } from './page-console.ts';

// Not a test: reports how long the app takes to respond with 100,000 entries. `playwright test --config
// apps/demo-budget/playwright.measure.config.ts`

const entryCount = Number(process.env['ENTRIES'] ?? 100_000);
const repetitions = 5;

test(`measures response times with ${entryCount} entries`, async ({ newPerson }) => {
  const { page, newTab, goOffline } = await newPerson({ scriptPrefix: paintedScript });
  await expect(page.getByRole('heading', { name: 'Accounts' })).toBeVisible();
  const filledMs = await fill(page, entryCount);
  const lines = [
    `${entryCount} entries written in ${(filledMs / 1000).toFixed(1)} s`,
    '',
    '| page, after a change of one amount | until shown, ms | slowest query alone, ms |',
    '|---|---|---|',
  ];
  const report = async (what: string, sql: string, params: readonly SqlParam[]): Promise<void> =>
    void lines.push(await answersAfterChange(page, what, sql, params));
  const today = new Date().toISOString().slice(0, 10);
  const month = today.slice(0, 7);

  await goTo(page, 'Accounts');
  await expect(page.getByRole('link', { name: /Household/ })).toBeVisible();
  await report('accounts', accountsWithBalances, []);
  await openAccount(page, 'Household');
  await expect(page.getByRole('table', { name: /^Entries of/ })).toBeVisible();
  const ledgerQuery = ledgerWindow('many-household', wholeLedger, 0, 60);
  await report('ledger', ledgerQuery.sql, ledgerQuery.params);
  await page.getByRole('searchbox').first().fill('heron');
  await expect(page.getByRole('table', { name: /^Entries of/ })).toContainText('The Drowsy Heron');
  const searchQuery = ledgerWindow('many-household', { ...wholeLedger, text: 'heron' }, 0, 60);
  await report('ledger, searched', searchQuery.sql, searchQuery.params);
  await goTo(page, 'Budget');
  await expect(page.locator('.unassigned')).toBeVisible();
  await report('monthly budget', activityByMonth, ['EUR', month]);
  const year = ['EUR', `${monthAfter(month, -11)}-01`, `${month}-31`];
  for (const [name, sql, params] of [
    ['Spending', spendingByMonth, year],
    ['Cash flow', cashFlowByMonth, year],
    ['Net worth', changeOfAccountsByMonth, year],
  ] as const) {
    await goTo(page, 'Reports');
    await page.getByRole('link', { name }).click();
    await expect(page.getByRole('group', { name: /each month/ })).toBeVisible();
    await report(`report: ${name.toLowerCase()}`, sql, params);
  }
  await openAccount(page, 'Household');
  lines.push(await searchTimes(page));
  const ledger = page.url();
  await page.evaluate(async () => void (await navigator.serviceWorker.ready));
  await page.goto('about:blank');
  lines.push('', '| warm start | until shown, ms |', '|---|---|');
  const starts = async (network: string): Promise<void> => {
    for (const [what, url, selector] of [
      ['accounts with balances', ledger.replace(/&page=.*/, ''), 'main li .amount'],
      ['ledger of the long account', ledger, 'main tbody tr'],
    ] as const) {
      const times: number[] = [];
      for (let count = 0; count < repetitions; count += 1) {
        const fresh = await newTab();
        times.push(await startMs(fresh, url, selector));
        await fresh.close();
      }
      lines.push(`| ${what}${network} | ${median(times).toFixed(0)} |`);
    }
  };
  await starts('');
  await goOffline();
  await starts(', without a network');
  console.log(lines.join('\n'));
});

/**
 * One line of the table: the time from the write of one amount until the page shows all its effects, and the time of
 * the page's slowest query when it runs alone.
 */
async function answersAfterChange(page: Page, what: string, sql: string, params: readonly SqlParam[]): Promise<string> {
  const answers: number[] = [];
  const queries: number[] = [];
  for (let count = 0; count < repetitions; count += 1) {
    const answerMs = await page.evaluate(async () => {
      const { rockpool } = globalThis as unknown as Console;
      const main = document.querySelector('main') as HTMLElement;
      let lastMs: number | null = null;
      const observer = new MutationObserver(
        () => void (globalThis as unknown as Console).painted().then((nowMs) => (lastMs = nowMs)),
      );
      observer.observe(main, { subtree: true, childList: true, characterData: true, attributes: true });
      const startMs = performance.now();
      await rockpool.execute(
        "UPDATE entries SET amountMinor = amountMinor - 12345 WHERE id = (SELECT id FROM entries WHERE accountId = 'many-household' AND payee = 'The Drowsy Heron' ORDER BY date DESC LIMIT 1)",
      );
      // All effects of a change have appeared once the page has not changed for half a second.
      while (lastMs === null || performance.now() - lastMs < 500)
        await new Promise((resolve) => setTimeout(resolve, 50));
      observer.disconnect();
      return lastMs - startMs;
    });
    answers.push(answerMs);
    queries.push(await queryMs(page, sql, params));
  }
  return `| ${what} | ${median(answers).toFixed(0)} | ${median(queries).toFixed(0)} |`;
}

/** Round-trip time of one query, measured on the page. */
async function queryMs(page: Page, sql: string, params: readonly SqlParam[]): Promise<number> {
  return await page.evaluate(
    async ([text, values]) => {
      const startMs = performance.now();
      await (globalThis as unknown as Console).rockpool.query(text, values);
      return performance.now() - startMs;
    },
    [sql, params] as const,
  );
}

async function searchTimes(page: Page): Promise<string> {
  const box = page.getByRole('searchbox').first();
  const times: number[] = [];
  const queries: number[] = [];
  for (const [text, payee] of [
    ['papercrane', 'Papercrane Books'],
    ['saltmarsh', 'Saltmarsh Cycles'],
    ['otter', 'Little Otter Clothing'],
    ['heron', 'The Drowsy Heron'],
  ] as const) {
    await box.fill('');
    await expect(page.getByRole('table', { name: /^Entries of/ })).toContainText('Third Rail');
    // Measured from the browser's dispatch of the key event.
    await page.evaluate((name) => {
      const shown = (): boolean => {
        // A row without text is a placeholder for rows that are not rendered.
        const rows = [...document.querySelectorAll('main tbody tr')].filter((row) => row.textContent.trim() !== '');
        return rows.length > 0 && rows.every((row) => row.textContent.includes(name));
      };
      let startMs = 0;
      addEventListener('input', ({ timeStamp }) => (startMs = timeStamp), { capture: true, once: true });
      Object.assign(globalThis, {
        found: new Promise<number>((resolve) => {
          const observer = new MutationObserver(() => {
            if (!shown()) return;
            observer.disconnect();
            void (globalThis as unknown as Console).painted().then((nowMs) => resolve(nowMs - startMs));
          });
          observer.observe(document.querySelector('main') as HTMLElement, {
            subtree: true,
            childList: true,
            characterData: true,
          });
        }),
      });
    }, payee);
    await box.fill(text);
    times.push(await page.evaluate(() => (globalThis as unknown as { found: Promise<number> }).found));
    const { sql, params } = ledgerTotals('many-household', { ...wholeLedger, text });
    queries.push(await queryMs(page, sql, params));
  }
  return `| a search, from the key to the entries | ${median(times).toFixed(0)} | ${median(queries).toFixed(0)} |`;
}

/** Time from the navigation until an element that matches the selector is present and painted. */
async function startMs(page: Page, url: string, selector: string): Promise<number> {
  await page.addInitScript((wanted) => {
    Object.assign(globalThis, {
      there: new Promise<number>((resolve) => {
        const look = (): void =>
          void (document.querySelector(wanted) === null
            ? requestAnimationFrame(look)
            : void (globalThis as unknown as Console).painted().then(resolve));
        requestAnimationFrame(look);
      }),
    });
  }, selector);
  await page.goto(url);
  return await page.evaluate(() => (globalThis as unknown as { there: Promise<number> }).there);
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}
