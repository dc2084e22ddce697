import type { Page } from 'playwright/test';
import { manyAccounts, manyEntries } from '../samples/many-entries.ts';
import type { Console } from './page-console.ts';

/** Writes the entries as an import does, a thousand per transaction. Resolves to the time it took. */
export async function fill(page: Page, entryCount: number): Promise<number> {
  const entries = manyEntries(new Date().toISOString().slice(0, 10), entryCount);
  await page.evaluate(async (accounts) => {
    const { rockpool } = globalThis as unknown as Console;
    await rockpool.sync.pause();
    await rockpool.batch(
      accounts.map(({ id, name, kind }) => ({
        sql: "INSERT INTO accounts (id, name, kind, currency, openingMinor, createdAtMs) VALUES (?, ?, ?, 'EUR', 0, 0)",
        params: [id, name, kind],
      })),
    );
  }, manyAccounts);
  let tookMs = 0;
  for (let from = 0; from < entries.length; from += 1_000) {
    tookMs += await page.evaluate(
      async ([slice, first]) => {
        const start = performance.now();
        await (globalThis as unknown as Console).rockpool.batch(
          slice.map((entry, index) => ({
            sql: 'INSERT INTO entries (id, accountId, date, payee, notes, categoryId, amountMinor, enteredAtMs) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
            params: [
              `many-${first + index}`,
              entry.accountId,
              entry.date,
              entry.payee,
              entry.notes,
              entry.categoryId,
              entry.amountMinor,
              first + index,
            ],
          })),
        );
        return performance.now() - start;
      },
      [entries.slice(from, from + 1_000), from] as const,
    );
  }
  return tookMs;
}
