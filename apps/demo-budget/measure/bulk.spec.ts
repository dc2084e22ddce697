import { expect, test } from '../e2e/harness/test.ts';
import { openAccount } from '../e2e/steps/accounts.ts';
import { fill } from './fill.ts';
import type { Console } from './page-console.ts';

// Not a test: reports how long one change of 20,000 entries and its undo take. `playwright test --config
// apps/demo-budget/playwright.measure.config.ts bulk`

const entryCount = Number(process.env['ENTRIES'] ?? 100_000);
const changedCount = 20_000;

test(`measures setting a category on ${changedCount} of ${entryCount} entries`, async ({ newPerson }) => {
  const { page } = await newPerson();
  await expect(page.getByRole('heading', { name: 'Accounts' })).toBeVisible();
  await fill(page, entryCount);
  await openAccount(page, 'Savings');
  const lines = await page.evaluate(async (count) => {
    const { rockpool } = globalThis as unknown as Console & {
      rockpool: { undo(): Promise<boolean>; redo(): Promise<boolean> };
    };
    await rockpool.execute("INSERT INTO categories (id, name, kind) VALUES ('bulk', 'Bulk', 'spending')");
    const lines: string[] = [];
    const time = async (what: string, work: () => Promise<unknown>): Promise<void> => {
      const startMs = performance.now();
      await work();
      lines.push(`| ${what} | ${(performance.now() - startMs).toFixed(0)} |`);
    };
    for (let round = 0; round < 3; round += 1) {
      await time('category', () =>
        rockpool.execute(
          `UPDATE entries SET categoryId = 'bulk' WHERE id IN (SELECT id FROM entries WHERE transferId IS NULL ORDER BY id LIMIT ${count})`,
        ),
      );
      await time('undo', () => rockpool.undo());
    }
    return lines;
  }, changedCount);
  console.log(lines.join('\n'));
});
