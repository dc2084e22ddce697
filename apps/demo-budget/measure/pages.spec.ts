import type { Page } from 'playwright/test';
import { expect, test } from '../e2e/harness/test.ts';
import { pages } from '../src/shell/navigation.ts';
import { fill } from './fill.ts';
import { paintedScript, type Console } from './page-console.ts';

// Not a test: reports how long each page takes from the click to its content with 100,000 entries. `playwright test
// --config apps/demo-budget/playwright.measure.config.ts pages`

const entryCount = Number(process.env['ENTRIES'] ?? 100_000);
const visits = 5;

test(`measures each page with ${entryCount} entries`, async ({ newPerson }) => {
  const { page } = await newPerson({ scriptPrefix: paintedScript });
  await expect(page.getByRole('heading', { name: 'Accounts' })).toBeVisible();
  await fill(page, entryCount);
  const lines = ['| page | from the click to the last change of its content, ms |', '|---|---|'];
  for (const name of pages.filter((one) => one !== 'accounts')) {
    const times: number[] = [];
    for (let visit = 0; visit < visits; visit += 1) times.push(await openMs(page, name));
    lines.push(
      `| ${name} | ${times.toSorted((a, b) => a - b)[Math.floor(visits / 2)]?.toFixed(0)} (${times.map((ms) => ms.toFixed(0)).join(', ')}) |`,
    );
  }
  console.log(lines.join('\n'));
});

/**
 * Opens a page from the accounts page and waits until nothing on it has changed for half a second. Resolves to the time
 * until the last change was painted.
 */
async function openMs(page: Page, name: string): Promise<number> {
  return await page.evaluate(async (to) => {
    const settled = async (go: () => void): Promise<number> => {
      let lastMs: number | null = null;
      const observer = new MutationObserver(
        () => void (globalThis as unknown as Console).painted().then((nowMs) => (lastMs = nowMs)),
      );
      observer.observe(document.body, { subtree: true, childList: true, characterData: true });
      const startMs = performance.now();
      go();
      while (lastMs === null || performance.now() - lastMs < 500)
        await new Promise((resolve) => setTimeout(resolve, 20));
      observer.disconnect();
      return lastMs - startMs;
    };
    const place = (target: string) => () => {
      const params = new URLSearchParams(location.hash.slice(1));
      params.set('page', target);
      if (target === 'entries') params.set('account', 'many-household');
      else params.delete('account');
      location.hash = params.toString();
    };
    const tookMs = await settled(place(to));
    await settled(place('accounts'));
    return tookMs;
  }, name);
}
