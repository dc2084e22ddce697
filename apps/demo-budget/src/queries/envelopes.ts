import { knownMonths, lineColumns, monthBegins, monthOfDay, ownAccounts, partLines } from './budget-lines.ts';

export interface AssignedRow {
  readonly month: string;
  readonly categoryId: string;
  readonly assignedMinor: number | bigint;
}

/** The amount assigned to each category, by month. Parameters: currency, last month. */
export const assignedByMonth = `
  SELECT month, categoryId, sum(amountMinor) AS assignedMinor
  FROM assignments WHERE currency = ? AND month <= ? GROUP BY month, categoryId`;

/** The ids of the last assignments to a category. Parameters: category id, currency, row limit. */
export const latestAssignmentIds = `
  SELECT id FROM assignments WHERE categoryId = ? AND currency = ? ORDER BY assignedAtMs DESC, id DESC LIMIT ?`;

export interface ActivityRow {
  readonly month: string;
  /** NULL: entries without a category. */
  readonly categoryId: string | null;
  /** Positive when more came in than went out. */
  readonly changeMinor: number | bigint;
}

/** The sum of each category's entries, by month. Parameters: currency, last month. */
export const activityByMonth = `
  WITH RECURSIVE asked (currency, lastMonth) AS (VALUES (?, ?)), ${knownMonths}, ${ownAccounts}, part (${lineColumns}) AS (${partLines}),
  moved (month, categoryId, changeMinor) AS (
    SELECT known.month, category.id,
           (SELECT sum(amountMinor) FROM entries WHERE categoryId IS category.id AND date BETWEEN known.firstDay AND known.lastDay AND accountId IN own)
    FROM known, (SELECT id FROM categories UNION ALL SELECT NULL) AS category
    UNION ALL
    SELECT ${monthOfDay('part.date')}, part.categoryId, part.amountMinor FROM part, asked WHERE part.currency = asked.currency
  )
  SELECT month, categoryId, sum(changeMinor) AS changeMinor
  FROM moved WHERE month <= (SELECT lastMonth FROM asked)
  GROUP BY month, categoryId
  HAVING sum(changeMinor) IS NOT NULL`;

export interface UncategorisedSpendingRow {
  /** Positive if the spending exceeds the income in parts of split entries. */
  readonly spentMinor: number | bigint;
}

/**
 * The spending of a month without a category, by the rule of the spending report: outgoing entries that are not
 * transfers. One row. Parameters: currency, month.
 */
export const uncategorisedSpending = `
  WITH asked (currency, month) AS (VALUES (?, ?)), ${monthBegins}, ${ownAccounts}, part (${lineColumns}) AS (${partLines})
  SELECT coalesce(-sum(amountMinor), 0) AS spentMinor
  FROM asked, (
      SELECT entry.date, entry.amountMinor FROM asked, entries AS entry
      WHERE entry.categoryId IS NULL AND entry.date BETWEEN asked.month || '-01' AND date(asked.month || '-01', '+2 months', '-1 day')
        AND entry.accountId IN own AND entry.transferId IS NULL AND entry.amountMinor < 0
      UNION ALL
      SELECT part.date, part.amountMinor FROM asked, part WHERE part.currency = asked.currency AND part.categoryId IS NULL AND part.wentOut
    ) AS line
  WHERE ${monthOfDay('line.date')} = asked.month`;
