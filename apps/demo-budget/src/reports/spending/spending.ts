import type { CategoryRow } from '../../queries/categories.ts';
import type { SpendingRow } from '../../queries/reports.ts';

/** One line of the report: a category's spending by month. */
export interface SpendingLine {
  /** NULL: entries without a category. */
  readonly categoryId: string | null;
  readonly name: string;
  /** In the order of the report's months; 0 without spending. */
  readonly spentMinorByMonth: readonly bigint[];
  readonly totalMinor: bigint;
}

export interface SpendingReport {
  /** `YYYY-MM`, oldest first. */
  readonly months: readonly string[];
  /** The largest total first. */
  readonly lines: readonly SpendingLine[];
  readonly totalMinorByMonth: readonly bigint[];
  readonly totalMinor: bigint;
}

/**
 * Turns rows of (month, category, sum) into a table. Sums are bigint throughout, because they may exceed 2^53 even
 * though no single amount does.
 */
export function spendingReport(
  rows: readonly SpendingRow[],
  categories: readonly CategoryRow[],
  months: readonly string[],
): SpendingReport {
  const names = new Map(categories.map((category) => [category.id, category.name]));
  const spentByCategory = new Map<string | null, Map<string, bigint>>();
  for (const row of rows) {
    const spent = spentByCategory.get(row.categoryId) ?? new Map<string, bigint>();
    spent.set(row.month, BigInt(row.spentMinor));
    spentByCategory.set(row.categoryId, spent);
  }
  const lines = [...spentByCategory].map(([categoryId, spent]): SpendingLine => {
    const spentMinorByMonth = months.map((month) => spent.get(month) ?? 0n);
    return {
      categoryId,
      name: categoryId === null ? 'No category' : (names.get(categoryId) ?? 'Unknown category'),
      spentMinorByMonth,
      totalMinor: sum(spentMinorByMonth),
    };
  });
  lines.sort((a, b) => compare(b.totalMinor, a.totalMinor) || a.name.localeCompare(b.name));
  const totalMinorByMonth = months.map((_, index) => sum(lines.map((line) => line.spentMinorByMonth[index] ?? 0n)));
  return { months, lines, totalMinorByMonth, totalMinor: sum(totalMinorByMonth) };
}

/** The length of a bar, from 0 to 1. Net refunds have no bar. */
export function barShare(amountMinor: bigint, largestMinor: bigint): number {
  return amountMinor <= 0n || largestMinor <= 0n ? 0 : Number(amountMinor) / Number(largestMinor);
}

function sum(amounts: readonly bigint[]): bigint {
  return amounts.reduce((total, amount) => total + amount, 0n);
}

function compare(a: bigint, b: bigint): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
