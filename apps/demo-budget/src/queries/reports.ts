import {
  askedMonths,
  budgetLines,
  lineColumns,
  monthBegins,
  monthOfDay,
  ownAccounts,
  partLines,
} from './budget-lines.ts';

export interface SpanRow {
  /** `YYYY-MM`; null without entries. */
  readonly firstMonth: string | null;
  readonly lastMonth: string | null;
}

/** The first and the last month with entries in a currency. One index look-up per account. Parameter: currency. */
export const spanOfEntries = `
  WITH ${monthBegins}
  SELECT ${monthOfDay('first')} AS firstMonth, ${monthOfDay('last')} AS lastMonth
  FROM (
    SELECT min((SELECT min(date) FROM entries WHERE accountId = account.id)) AS first,
           max((SELECT max(date) FROM entries WHERE accountId = account.id)) AS last
    FROM accounts AS account WHERE account.currency = ?
  )`;

/**
 * Whether a line counts as income or as spending: the kind of its category, or, without a category, the direction of
 * its entry. Refunds reduce the spending of their category. NULL, which is neither, for money that is moved between
 * accounts.
 */
const sideOfLine = `
  CASE WHEN category.kind IS NOT NULL THEN category.kind WHEN line.transferId IS NOT NULL THEN NULL WHEN line.wentOut THEN 'spending' ELSE 'income' END`;

export type Side = 'income' | 'spending';

export interface SpendingRow {
  /** `YYYY-MM`. */
  readonly month: string;
  /** NULL: entries without a category. */
  readonly categoryId: string | null;
  /** Positive when spending exceeds refunds. */
  readonly spentMinor: number | bigint;
}

/**
 * The table `moved`: the sum per category and month, and the sums of uncategorised entries, each with its side (income
 * or spending). Category sums are read from ranges of an index; only uncategorised entries are read one by one.
 */
const movedByMonth = `
  asked (currency, firstDay, lastDay) AS (VALUES (?, ?, ?)), ${askedMonths}, ${ownAccounts}, part (${lineColumns}) AS (${partLines}),
  moved (month, side, categoryId, changeMinor) AS (
    SELECT period.month, category.kind, category.id,
           (SELECT sum(amountMinor) FROM entries
            WHERE categoryId = category.id AND date BETWEEN period.firstDay AND period.lastDay AND accountId IN own)
    FROM period, categories AS category
    UNION ALL
    SELECT ${monthOfDay('entry.date')}, CASE WHEN entry.amountMinor < 0 THEN 'spending' ELSE 'income' END, NULL, entry.amountMinor
    FROM asked, entries AS entry
    WHERE entry.categoryId IS NULL AND entry.date BETWEEN asked.firstDay AND asked.lastDay AND entry.accountId IN own AND entry.transferId IS NULL
    UNION ALL
    SELECT ${monthOfDay('line.date')}, ${sideOfLine}, line.categoryId, line.amountMinor
    FROM asked, part AS line LEFT JOIN categories AS category ON category.id = line.categoryId
    WHERE line.currency = asked.currency AND line.date BETWEEN asked.firstDay AND asked.lastDay
  )`;

/** Spending by month and category. Parameters: currency, first day, last day. */
export const spendingByMonth = `
  WITH RECURSIVE ${movedByMonth}
  SELECT month, categoryId, -sum(changeMinor) AS spentMinor
  FROM moved WHERE side = 'spending'
  GROUP BY month, categoryId
  HAVING CASE WHEN categoryId IS NULL THEN sum(changeMinor) <> 0 ELSE sum(changeMinor) IS NOT NULL END`;

export interface CashFlowRow {
  /** `YYYY-MM`. */
  readonly month: string;
  readonly side: Side;
  /** Positive when more came in than went out. */
  readonly changeMinor: number | bigint;
}

/** Income and spending by month. Parameters: currency, first day, last day. */
export const cashFlowByMonth = `
  WITH RECURSIVE ${movedByMonth}
  SELECT month, side, sum(changeMinor) AS changeMinor
  FROM moved WHERE side IS NOT NULL
  GROUP BY month, side
  HAVING sum(changeMinor) IS NOT NULL`;

export interface AccountChangeRow {
  readonly accountId: string;
  readonly name: string;
  /** The balance before the first day. */
  readonly beforeMinor: number | bigint;
  /** `YYYY-MM`. */
  readonly month: string;
  readonly changeMinor: number | bigint;
}

/**
 * The change of each account by month, with its balance before the period. The earlier entries are one sum per account.
 * Parameters: currency, first day, last day.
 */
export const changeOfAccountsByMonth = `
  WITH RECURSIVE asked (currency, firstDay, lastDay) AS (VALUES (?, ?, ?)), ${askedMonths},
  begun AS MATERIALIZED (
    SELECT account.id, account.name, account.createdAtMs,
           account.openingMinor + coalesce((SELECT sum(amountMinor) FROM entries WHERE accountId = account.id AND date < asked.firstDay), 0) AS beforeMinor
    FROM asked JOIN accounts AS account ON account.currency = asked.currency
  )
  SELECT begun.id AS accountId, begun.name, begun.beforeMinor, period.month,
         coalesce((SELECT sum(amountMinor) FROM entries WHERE accountId = begun.id AND date BETWEEN period.firstDay AND period.lastDay), 0) AS changeMinor
  FROM begun, period
  ORDER BY begun.createdAtMs, begun.id, period.month`;

export interface ReportedEntryRow {
  readonly id: string;
  readonly date: string;
  readonly payee: string;
  readonly notes: string;
  readonly categoryId: string | null;
  readonly categoryName: string | null;
  readonly accountId: string;
  readonly accountName: string;
  readonly amountMinor: number;
  /** The number of all matching entries, whatever the row limit. */
  readonly allCount: number;
  readonly allMinor: number | bigint;
}

/** The category parameter of `reportedEntries` for uncategorised entries. */
export const noCategory = 'none';

/**
 * The entries behind a figure of a report, newest first; a split entry appears once per category, with that category's
 * amount. Parameters: currency, first day, last day, side (empty: both), side again, category id (empty: any; or
 * `noCategory`), category id again, row limit.
 */
export const reportedEntries = `
  WITH ${budgetLines}
  SELECT entry.id, entry.date, entry.payee, entry.notes, line.categoryId, category.name AS categoryName, account.id AS accountId, account.name AS accountName,
         sum(line.amountMinor) AS amountMinor, count(*) OVER () AS allCount, sum(sum(line.amountMinor)) OVER () AS allMinor
  FROM line
    JOIN entries AS entry ON entry.id = line.entryId
    JOIN accounts AS account ON account.id = entry.accountId
    LEFT JOIN categories AS category ON category.id = line.categoryId
  WHERE line.currency = ? AND line.date BETWEEN ? AND ?
    AND ${sideOfLine} IS NOT NULL AND (? = '' OR ${sideOfLine} = ?) AND (? = '' OR coalesce(line.categoryId, '${noCategory}') = ?)
  GROUP BY entry.id, line.categoryId
  HAVING line.categoryId IS NOT NULL OR sum(line.amountMinor) <> 0
  ORDER BY entry.date DESC, entry.enteredAtMs DESC, entry.id DESC, line.categoryId
  LIMIT ?`;

export type BreakdownBy = 'payee' | 'category' | 'group' | 'account';

export interface BreakdownRow {
  /** Differs from that of every other row. */
  readonly key: string;
  /** Empty for entries without a payee, category or group. Categories, and accounts, may have equal names. */
  readonly name: string;
  /** The group of a category or an account; empty if it has none, and for payees and groups. */
  readonly groupName: string;
  readonly spentMinor: number | bigint;
  /** Spending in the compared days. */
  readonly beforeMinor: number | bigint;
}

/** By property: the SQL of a row's key, name and group. */
const breakdownColumns: Readonly<Record<BreakdownBy, readonly [key: string, name: string, groupName: string]>> = {
  payee: ['entry.payee', 'entry.payee', "''"],
  category: ["coalesce(category.id, '')", "coalesce(category.name, '')", "coalesce(category.groupName, '')"],
  group: ["coalesce(category.groupName, '')", "coalesce(category.groupName, '')", "''"],
  account: ['account.id', 'account.name', 'account.groupName'],
};

/**
 * Spending by one property of its entries, in two ranges of days, the largest first. Parameters: currency, first and
 * last day, first and last day to compare with.
 */
export function breakdownBy(by: BreakdownBy): string {
  const [key, name, groupName] = breakdownColumns[by];
  return `
  WITH ${budgetLines}, asked (currency, firstDay, lastDay, firstBefore, lastBefore) AS (VALUES (?, ?, ?, ?, ?))
  SELECT ${key} AS key, ${name} AS name, ${groupName} AS groupName,
         coalesce(-sum(line.amountMinor) FILTER (WHERE line.date BETWEEN asked.firstDay AND asked.lastDay), 0) AS spentMinor,
         coalesce(-sum(line.amountMinor) FILTER (WHERE line.date BETWEEN asked.firstBefore AND asked.lastBefore), 0) AS beforeMinor
  FROM asked, line
    JOIN entries AS entry ON entry.id = line.entryId
    JOIN accounts AS account ON account.id = entry.accountId
    LEFT JOIN categories AS category ON category.id = line.categoryId
  WHERE line.currency = asked.currency
    AND (line.date BETWEEN asked.firstDay AND asked.lastDay OR line.date BETWEEN asked.firstBefore AND asked.lastBefore)
    AND ${sideOfLine} = 'spending'
  GROUP BY 1 HAVING spentMinor <> 0 OR beforeMinor <> 0
  ORDER BY spentMinor DESC, name COLLATE NOCASE, key`;
}
