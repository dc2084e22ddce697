import type { SqlParam, SqlStatement } from '@rockpool/client';
import { searchText } from '@rockpool/client/schema';
import type { AccountKind, CategoryKind, EntryStatus, GoalKind, RuleField, RuleTest, ScheduleUnit } from './schema.ts';

/*
 * Every live query of the app, by name: the SQL and the rows that it gives. Views run them with `useQuery(sql, params)`.
 * Sums may pass 2^53 where no single amount does; such an integer comes as bigint.
 */

/**
 * What the parts of split entries put into their categories, and what they take from their entry's own, as arms of `line`. Accounts off budget have none.
 * Crosswise, which has SQLite begin with the parts: they are few, and entries are many.
 */
const partLines = `
    SELECT entry.id, entry.date, account.currency, piece.categoryId, piece.amountMinor, entry.amountMinor < 0, entry.transferId
    FROM (
        SELECT part.entryId, part.categoryId, part.amountMinor FROM parts AS part
        UNION ALL
        SELECT part.entryId, whole.categoryId, -part.amountMinor FROM parts AS part JOIN entries AS whole ON whole.id = part.entryId
      ) AS piece
      CROSS JOIN entries AS entry ON entry.id = piece.entryId
      CROSS JOIN accounts AS account ON account.id = entry.accountId AND account.kind <> 'off-budget'`;

const lineColumns = 'entryId, date, currency, categoryId, amountMinor, wentOut, transferId';

/**
 * What each category got of each entry that the budget knows, as the table `line`: entries, then the parts of split ones, each part taken from its entry's
 * category and put into its own. So the lines of an entry always add up to its amount, also while its parts do not. Accounts off budget have none.
 */
export const budgetLines = `
  line (${lineColumns}) AS (
    SELECT entry.id, entry.date, account.currency, entry.categoryId, entry.amountMinor, entry.amountMinor < 0, entry.transferId
    FROM entries AS entry JOIN accounts AS account ON account.id = entry.accountId AND account.kind <> 'off-budget'
    UNION ALL ${partLines}
  )`;

/**
 * Months and accounts that sums are made for, as tables: each sum is then a range of an index, and nothing has to be sorted or joined. They read the parameters
 * from a table `asked`.
 *
 * `known`: the months that there are entries in, from the first to the first one after `asked.lastMonth`, a step into an index each.
 */
const knownMonths = `
  known (month) AS (
    SELECT substr(min(date), 1, 7) FROM entries
    UNION ALL
    SELECT (SELECT substr(min(date), 1, 7) FROM entries WHERE date > known.month || '-31') FROM known WHERE known.month <= (SELECT lastMonth FROM asked)
  )`;

/** `period`: the months from that of `asked.firstDay` to that of `asked.lastDay`. */
const askedMonths = `
  period (month) AS (
    SELECT substr(firstDay, 1, 7) FROM asked
    UNION ALL
    SELECT substr(date(period.month || '-01', '+1 month'), 1, 7) FROM period WHERE period.month < (SELECT substr(lastDay, 1, 7) FROM asked)
  )`;

/** `own`: the accounts on budget in `asked.currency`. */
const ownAccounts = `
  own (id) AS MATERIALIZED (SELECT id FROM accounts WHERE currency = (SELECT currency FROM asked) AND kind <> 'off-budget')`;

/** Whether somebody has begun the notes. No parameters. */
export const notesBegun = `SELECT EXISTS (SELECT 1 FROM notes WHERE id = 'budget') AS begun`;

export interface AccountRow {
  readonly id: string;
  readonly name: string;
  readonly kind: AccountKind;
  readonly currency: string;
  readonly openingMinor: number;
  readonly closed: 0 | 1;
  readonly balanceMinor: number | bigint;
  readonly entryCount: number;
}

/** All accounts with their balances, closed ones last. No parameters. */
export const accountsWithBalances = `
  SELECT account.id, account.name, account.kind, account.currency, account.openingMinor, account.closed,
         account.openingMinor + coalesce(moved.totalMinor, 0) AS balanceMinor, coalesce(moved.entryCount, 0) AS entryCount
  FROM accounts AS account
    LEFT JOIN (SELECT accountId, sum(amountMinor) AS totalMinor, count(*) AS entryCount FROM entries GROUP BY accountId) AS moved ON moved.accountId = account.id
  ORDER BY account.closed, account.createdAtMs, account.id`;

export interface CategoryRow {
  readonly id: string;
  readonly name: string;
  readonly kind: CategoryKind;
  readonly hidden: 0 | 1;
}

/** All categories, spending first, by name. No parameters. */
export const categoriesByName = `
  SELECT id, name, kind, hidden FROM categories ORDER BY kind DESC, hidden, name COLLATE NOCASE, id`;

export interface LedgerRow {
  readonly id: string;
  readonly accountId: string;
  readonly date: string;
  readonly payee: string;
  readonly notes: string;
  readonly categoryId: string | null;
  readonly amountMinor: number;
  readonly status: EntryStatus;
  /** 1: it was reconciled, or the other side of the transfer was. */
  readonly locked: 0 | 1;
  readonly transferId: string | null;
  /** The account at the other end of a transfer; NULL for all else. */
  readonly otherAccountId: string | null;
  readonly otherAccountName: string | null;
  readonly otherMinor: number | null;
  /** 0: not split. */
  readonly partCount: number;
  /** What the parts add up to; NULL where there are none. */
  readonly dividedMinor: number | bigint | null;
  /** How many entries of what was asked for are newer. */
  readonly position: number;
  /** The account's balance after this entry; NULL where the ledger is narrowed, as the entries before it are not all shown. */
  readonly balanceMinor: number | bigint | null;
}

/** What a ledger is narrowed to. */
export interface LedgerFilter {
  /** In payee, notes, notes of parts, and the other account's name. Empty: all. */
  readonly text: string;
  /** The amount that `text` may stand for, whichever way it went; null where it is none. */
  readonly textMinor: number | null;
  /** `none`: entries that still lack a category; null: all. */
  readonly categoryId: string | null;
  readonly status: EntryStatus | 'not-reconciled' | null;
  /** `YYYY-MM-DD`, inclusive; empty: all. */
  readonly fromDate: string;
  readonly toDate: string;
}

const newestFirst = 'entry.date DESC, entry.enteredAtMs DESC, entry.id DESC';

/**
 * A window of an account's ledger, newest first: `count` entries from position `first` on. However many there are, no more than these are read whole; what
 * is newer is stepped over, and added up for the balance, in an index that holds day and amount.
 */
export function ledgerWindow(accountId: string, filter: LedgerFilter, first: number, count: number): SqlStatement {
  const found = ledgerCondition(accountId, filter);
  const balance = isNarrowed(filter) ? { sql: 'NULL', params: [] } : { sql: runningBalance, params: [accountId, accountId, accountId, first] };
  return {
    sql: `
  WITH shown AS (
    SELECT entry.id FROM entries AS entry WHERE ${found.sql} ORDER BY ${newestFirst} LIMIT ? OFFSET ?
  )
  SELECT entry.id, entry.accountId, entry.date, entry.payee, entry.notes, entry.categoryId, entry.amountMinor, entry.status, entry.transferId,
         'reconciled' IN (entry.status, coalesce(twin.status, '')) AS locked, other.id AS otherAccountId, other.name AS otherAccountName, twin.amountMinor AS otherMinor,
         (SELECT count(*) FROM parts WHERE entryId = entry.id) AS partCount,
         (SELECT sum(amountMinor) FROM parts WHERE entryId = entry.id) AS dividedMinor,
         row_number() OVER newest - 1 + ? AS position,
         ${balance.sql} AS balanceMinor
  FROM shown JOIN entries AS entry ON entry.id = shown.id
    LEFT JOIN entries AS twin ON twin.transferId = entry.transferId AND twin.id <> entry.id
    LEFT JOIN accounts AS other ON other.id = twin.accountId
  WINDOW newest AS (ORDER BY ${newestFirst})
  ORDER BY position`,
    params: [...found.params, count, first, first, ...balance.params],
  };
}

/** What the account holds now, less what came after the window, less what comes after the entry within it. Parameters: account id, three times; the window's first position. */
const runningBalance = `
         (SELECT openingMinor FROM accounts WHERE id = ?) + (SELECT coalesce(sum(amountMinor), 0) FROM entries WHERE accountId = ?)
           - (SELECT coalesce(sum(amountMinor), 0) FROM (SELECT entry.amountMinor FROM entries AS entry WHERE entry.accountId = ? ORDER BY ${newestFirst} LIMIT ?))
           - coalesce(sum(entry.amountMinor) OVER (newest ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0)`;

export interface LedgerTotalsRow {
  readonly entryCount: number;
  readonly totalMinor: number | bigint;
}

/** How many entries a ledger has, and what they add up to. */
export function ledgerTotals(accountId: string, filter: LedgerFilter): SqlStatement {
  const found = ledgerCondition(accountId, filter);
  return { sql: `SELECT count(*) AS entryCount, coalesce(sum(entry.amountMinor), 0) AS totalMinor FROM entries AS entry WHERE ${found.sql}`, params: found.params };
}

/** The ids of all entries of a ledger, for "select all". */
export function ledgerIds(accountId: string, filter: LedgerFilter): SqlStatement {
  const found = ledgerCondition(accountId, filter);
  return { sql: `SELECT entry.id FROM entries AS entry WHERE ${found.sql}`, params: found.params };
}

export const wholeLedger: LedgerFilter = { text: '', textMinor: null, categoryId: null, status: null, fromDate: '', toDate: '' };

export function isNarrowed({ text, categoryId, status, fromDate, toDate }: LedgerFilter): boolean {
  return text !== '' || categoryId !== null || status !== null || fromDate !== '' || toDate !== '';
}

function ledgerCondition(accountId: string, { text, textMinor, categoryId, status, fromDate, toDate }: LedgerFilter): SqlStatement & { readonly params: readonly SqlParam[] } {
  const conditions = ['entry.accountId = ?'];
  const params: SqlParam[] = [accountId];
  const add = (condition: string, ...values: readonly SqlParam[]): void => {
    conditions.push(condition);
    params.push(...values);
  };
  if (text !== '') {
    const found = entriesWithText(accountId, text, textMinor);
    add(`entry.rowid IN (${found.sql})`, ...found.params);
  }
  if (categoryId === 'none') add('entry.categoryId IS NULL AND entry.transferId IS NULL AND NOT EXISTS (SELECT 1 FROM parts WHERE entryId = entry.id)');
  else if (categoryId !== null) add('(entry.categoryId = ? OR entry.id IN (SELECT entryId FROM parts WHERE categoryId = ?))', categoryId, categoryId);
  if (status === 'not-reconciled') add("entry.status <> 'reconciled'");
  else if (status !== null) add('entry.status = ?', status);
  if (fromDate !== '') add('entry.date >= ?', fromDate);
  if (toDate !== '') add('entry.date <= ?', toDate);
  return { sql: conditions.join(' AND '), params };
}

/**
 * The entries that a person means who types some text: every word of it begins one of the payee, the notes or a part's notes; or it is a part of the other account's
 * name, or the amount. All but the amount are found without reading what does not fit.
 */
function entriesWithText(accountId: string, text: string, textMinor: number | null): SqlStatement & { readonly params: readonly SqlParam[] } {
  const words = searchText(text);
  const byWords = `
    SELECT rowid FROM entriesSearch WHERE entriesSearch MATCH ?
    UNION ALL SELECT entries.rowid FROM partsSearch JOIN parts ON parts.rowid = partsSearch.rowid JOIN entries ON entries.id = parts.entryId WHERE partsSearch MATCH ?
    UNION ALL SELECT mine.rowid FROM entries AS twin JOIN accounts AS other ON other.id = twin.accountId JOIN entries AS mine ON mine.transferId = twin.transferId
              WHERE twin.transferId > '' AND twin.accountId <> ? AND instr(lower(other.name), lower(?)) > 0`;
  const byAmount = 'UNION ALL SELECT rowid FROM entries WHERE accountId = ? AND abs(amountMinor) = ?';
  const params = [words, words, accountId, text];
  return textMinor === null ? { sql: byWords, params } : { sql: `${byWords} ${byAmount}`, params: [...params, accountId, textMinor] };
}

export interface PartRow {
  readonly id: string;
  readonly categoryId: string | null;
  readonly amountMinor: number;
  readonly notes: string;
}

/** The parts of a split entry, in the order of their making. Parameter: entry id. */
export const partsOfEntry = `
  SELECT id, categoryId, amountMinor, notes FROM parts WHERE entryId = ? ORDER BY length(id), id`;

export interface ClearedRow {
  /** Opening balance and every entry that the bank has. */
  readonly clearedMinor: number | bigint;
  /** How many of these no statement was checked against yet. */
  readonly toReconcile: number;
}

/** What the bank should say that an account holds. Parameters: account id, three times. */
export const clearedOfAccount = `
  SELECT (SELECT openingMinor FROM accounts WHERE id = ?) + (SELECT coalesce(sum(amountMinor), 0) FROM entries WHERE accountId = ? AND status IN ('cleared', 'reconciled')) AS clearedMinor,
         (SELECT count(*) FROM entries WHERE accountId = ? AND status = 'cleared') AS toReconcile`;

export interface LearnedRow {
  readonly categoryId: string;
}

/** The category that a payee had last. Parameter: payee. */
export const learnedCategory = `
  SELECT categoryId FROM entries WHERE payee = ? AND categoryId IS NOT NULL ORDER BY date DESC, enteredAtMs DESC LIMIT 1`;

export interface PayeeUseRow {
  readonly payee: string;
  readonly entryCount: number;
  /** Of its newest entry with one; NULL where none has. */
  readonly categoryId: string | null;
}

/** Payees as they are used, by name, with the category that each had last. Parameter: a part of the name, empty for all. */
export const payeesInUse = `
  SELECT payee, count(*) AS entryCount,
         (SELECT latest.categoryId FROM entries AS latest WHERE latest.payee = entries.payee AND latest.categoryId IS NOT NULL ORDER BY latest.date DESC, latest.enteredAtMs DESC LIMIT 1) AS categoryId
  FROM entries WHERE payee <> '' AND instr(lower(payee), lower(?)) > 0
  GROUP BY payee ORDER BY payee COLLATE NOCASE LIMIT 100`;

export interface RuleRow {
  readonly id: string;
  readonly field: RuleField;
  readonly test: RuleTest;
  readonly value: string;
  readonly categoryId: string | null;
  readonly payee: string | null;
}

/** The rules in the order in which they are tried. No parameters. */
export const rulesInOrder = `
  SELECT id, field, test, value, categoryId, payee FROM rules ORDER BY createdAtMs, id`;

export interface ScheduleRow {
  readonly id: string;
  readonly accountId: string;
  readonly accountName: string;
  readonly accountKind: AccountKind;
  readonly currency: string;
  /** Where a transfer goes to; NULL, as its name and kind are, for all else. */
  readonly otherAccountId: string | null;
  readonly otherAccountName: string | null;
  readonly otherAccountKind: AccountKind | null;
  readonly payee: string;
  readonly notes: string;
  readonly categoryId: string | null;
  readonly amountMinor: number;
  readonly firstDate: string;
  readonly every: number;
  readonly unit: ScheduleUnit;
  readonly lastDate: string | null;
}

/** Scheduled entries of open accounts, by payee, transfers first. No parameters. */
export const schedulesByPayee = `
  SELECT schedule.id, schedule.accountId, account.name AS accountName, account.kind AS accountKind, account.currency,
         schedule.otherAccountId, other.name AS otherAccountName, other.kind AS otherAccountKind, schedule.payee, schedule.notes, schedule.categoryId,
         schedule.amountMinor, schedule.firstDate, schedule.every, schedule.unit, schedule.lastDate
  FROM schedules AS schedule
    JOIN accounts AS account ON account.id = schedule.accountId AND account.closed = 0
    LEFT JOIN accounts AS other ON other.id = schedule.otherAccountId
  WHERE coalesce(other.closed, 0) = 0
  ORDER BY schedule.payee COLLATE NOCASE, other.name COLLATE NOCASE, schedule.id`;

export interface ScheduleDayRow {
  readonly scheduleId: string;
  readonly date: string;
}

/** The days of schedules that were entered or skipped. No parameters. */
export const scheduleDaysDone = `
  SELECT day.scheduleId, day.date FROM scheduleDays AS day JOIN schedules AS schedule ON schedule.id = day.scheduleId`;

export interface GoalRow {
  readonly categoryId: string;
  readonly kind: GoalKind;
  readonly amountMinor: number;
  readonly byMonth: string | null;
}

/** The goals of envelopes. Parameter: currency. */
export const goalsInCurrency = `
  SELECT categoryId, kind, amountMinor, byMonth FROM goals WHERE currency = ?`;

export interface PayeeRow {
  readonly payee: string;
}

/** Payees to choose from while typing, the most used first. No parameters. */
export const frequentPayees = `
  SELECT payee FROM entries WHERE payee <> '' GROUP BY payee ORDER BY count(*) DESC, payee LIMIT 200`;

export interface UncategorisedRow {
  readonly entryCount: number;
}

/** How many entries of a payee have no category. Parameter: payee. */
export const uncategorisedOfPayee = `
  SELECT count(*) AS entryCount FROM entries
  WHERE payee = ? AND categoryId IS NULL AND transferId IS NULL AND NOT EXISTS (SELECT 1 FROM parts WHERE entryId = entries.id)`;

export interface ImportKeyRow {
  readonly importKey: string;
}

/** What has been imported into an account before. Parameter: account id. */
export const importKeysOfAccount = `
  SELECT importKey FROM entries WHERE accountId = ? AND importKey IS NOT NULL`;

export interface KnownEntryRow {
  readonly id: string;
  readonly date: string;
  readonly payee: string;
  readonly amountMinor: number;
  readonly importKey: string | null;
}

/** The entries of an account in some days, to find those that a file brings once more. Parameters: account id, first day, last day. */
export const entriesOfDays = `
  SELECT id, date, payee, amountMinor, importKey FROM entries WHERE accountId = ? AND date BETWEEN ? AND ?`;

export interface ImportProfileRow {
  readonly columns: string;
  readonly delimiter: string;
  readonly dateOrder: string;
  readonly decimalMark: string;
  readonly turnSigns: 0 | 1;
}

/** How the last statement of an account was read. Parameter: account id. */
export const importProfileOfAccount = `
  SELECT columns, delimiter, dateOrder, decimalMark, turnSigns FROM importProfiles WHERE id = ?`;

export interface CurrencyRow {
  readonly currency: string;
  /** What its accounts on budget held before their first entries. */
  readonly openingMinor: number | bigint;
}

/** The currencies that accounts are kept in, that of the first account first. No parameters. */
export const currenciesOfAccounts = `
  SELECT currency, coalesce(sum(openingMinor) FILTER (WHERE kind <> 'off-budget'), 0) AS openingMinor
  FROM accounts GROUP BY currency ORDER BY min(closed), min(createdAtMs), currency`;

export interface AssignedRow {
  readonly month: string;
  readonly categoryId: string;
  readonly assignedMinor: number | bigint;
}

/** What was assigned to each category, month by month. Parameters: currency, last month. */
export const assignedByMonth = `
  SELECT month, categoryId, sum(amountMinor) AS assignedMinor
  FROM assignments WHERE currency = ? AND month <= ? GROUP BY month, categoryId`;

export interface ActivityRow {
  readonly month: string;
  /** NULL: entries without a category. */
  readonly categoryId: string | null;
  /** Positive when more came in than went out. */
  readonly changeMinor: number | bigint;
}

/** What moved in each category, month by month. Parameters: currency, last month. */
export const activityByMonth = `
  WITH RECURSIVE asked (currency, lastMonth) AS (VALUES (?, ?)), ${knownMonths}, ${ownAccounts}, part (${lineColumns}) AS (${partLines}),
  moved (month, categoryId, changeMinor) AS (
    SELECT known.month, category.id,
           (SELECT sum(amountMinor) FROM entries WHERE categoryId IS category.id AND date BETWEEN known.month || '-01' AND known.month || '-31' AND accountId IN own)
    FROM known, (SELECT id FROM categories UNION ALL SELECT NULL) AS category
    UNION ALL
    SELECT substr(part.date, 1, 7), part.categoryId, part.amountMinor FROM part, asked WHERE part.currency = asked.currency
  )
  SELECT month, categoryId, sum(changeMinor) AS changeMinor
  FROM moved WHERE month <= (SELECT lastMonth FROM asked)
  GROUP BY month, categoryId
  HAVING sum(changeMinor) IS NOT NULL`;

export interface SpanRow {
  /** `YYYY-MM`; null without entries. */
  readonly firstMonth: string | null;
  readonly lastMonth: string | null;
}

/** From which month to which there are entries in a currency. One step into an index for each account. Parameter: currency. */
export const spanOfEntries = `
  SELECT substr(min((SELECT min(date) FROM entries WHERE accountId = account.id)), 1, 7) AS firstMonth,
         substr(max((SELECT max(date) FROM entries WHERE accountId = account.id)), 1, 7) AS lastMonth
  FROM accounts AS account WHERE account.currency = ?`;

/**
 * Whether a line counts as income or as spending: as its category does; without one, as its entry's money went. Refunds count against the spending of their
 * category. NULL, which is neither, for money that only went from one account to another.
 */
const sideOfLine = `
  CASE WHEN category.kind IS NOT NULL THEN category.kind WHEN line.transferId IS NOT NULL THEN NULL WHEN line.wentOut THEN 'spending' ELSE 'income' END`;

export type Side = 'income' | 'spending';

export interface SpendingRow {
  /** `YYYY-MM`. */
  readonly month: string;
  /** NULL: entries without a category. */
  readonly categoryId: string | null;
  /** Positive when more was spent than came back. */
  readonly spentMinor: number | bigint;
}

/**
 * What each category got in each month, and what came and went without one, as the table `moved`, with the side that it counts on. The sums of categories are
 * ranges of an index; only entries without a category are looked at one by one.
 */
const movedByMonth = `
  asked (currency, firstDay, lastDay) AS (VALUES (?, ?, ?)), ${askedMonths}, ${ownAccounts}, part (${lineColumns}) AS (${partLines}),
  moved (month, side, categoryId, changeMinor) AS (
    SELECT period.month, category.kind, category.id,
           (SELECT sum(amountMinor) FROM entries
            WHERE categoryId = category.id AND date BETWEEN max(period.month || '-01', asked.firstDay) AND min(period.month || '-31', asked.lastDay) AND accountId IN own)
    FROM asked, period, categories AS category
    UNION ALL
    SELECT substr(entry.date, 1, 7), CASE WHEN entry.amountMinor < 0 THEN 'spending' ELSE 'income' END, NULL, entry.amountMinor
    FROM asked, entries AS entry
    WHERE entry.categoryId IS NULL AND entry.date BETWEEN asked.firstDay AND asked.lastDay AND entry.accountId IN own AND entry.transferId IS NULL
    UNION ALL
    SELECT substr(line.date, 1, 7), ${sideOfLine}, line.categoryId, line.amountMinor
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
  /** What it held before the first day. */
  readonly beforeMinor: number | bigint;
  /** `YYYY-MM`. */
  readonly month: string;
  readonly changeMinor: number | bigint;
}

/** What moved in each account, month by month, with what it began with. All that was before is one sum for each account. Parameters: currency, first day, last day. */
export const changeOfAccountsByMonth = `
  WITH RECURSIVE asked (currency, firstDay, lastDay) AS (VALUES (?, ?, ?)), ${askedMonths},
  begun AS MATERIALIZED (
    SELECT account.id, account.name, account.createdAtMs,
           account.openingMinor + coalesce((SELECT sum(amountMinor) FROM entries WHERE accountId = account.id AND date < asked.firstDay), 0) AS beforeMinor
    FROM asked JOIN accounts AS account ON account.currency = asked.currency
  )
  SELECT begun.id AS accountId, begun.name, begun.beforeMinor, period.month,
         coalesce((SELECT sum(amountMinor) FROM entries WHERE accountId = begun.id AND date BETWEEN period.month || '-01' AND period.month || '-31'), 0) AS changeMinor
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
  /** Of all entries that are meant, however many rows are asked for. */
  readonly allCount: number;
  readonly allMinor: number | bigint;
}

/** The category of `reportedEntries` for entries that have none. */
export const noCategory = 'none';

/**
 * The entries behind a figure of a report, newest first; a split one once for each category, with what that got of it. Parameters: currency, first day, last day, side (empty: both), side
 * again, category id (empty: any; or `noCategory`), category id again, how many rows.
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

export interface CountRow {
  readonly count: number;
}

/** How many rows `exportedLines` has. No parameters. */
export const entryLineCount = `
  SELECT (SELECT count(*) FROM parts)
    + (SELECT count(*) FROM entries AS entry WHERE amountMinor IS NOT (SELECT sum(amountMinor) FROM parts WHERE entryId = entry.id)) AS count`;

export interface ExportedLineRow {
  readonly entryId: string;
  readonly date: string;
  readonly accountName: string;
  readonly payee: string;
  readonly notes: string;
  readonly categoryName: string | null;
  readonly amountMinor: number;
  readonly currency: string;
  readonly status: string;
}

/** Every entry, oldest first: what its parts leave over of it, if anything, then its parts. No parameters. */
export const exportedLines = `
  WITH piece (entryId, partId, categoryId, notes, amountMinor) AS (
    SELECT entry.id, '', entry.categoryId, entry.notes, entry.amountMinor - coalesce((SELECT sum(amountMinor) FROM parts WHERE entryId = entry.id), 0)
    FROM entries AS entry WHERE entry.amountMinor IS NOT (SELECT sum(amountMinor) FROM parts WHERE entryId = entry.id)
    UNION ALL
    SELECT entryId, id, categoryId, notes, amountMinor FROM parts
  )
  SELECT entry.id AS entryId, entry.date, account.name AS accountName, entry.payee, piece.notes, category.name AS categoryName, piece.amountMinor, account.currency, entry.status
  FROM piece
    JOIN entries AS entry ON entry.id = piece.entryId
    JOIN accounts AS account ON account.id = entry.accountId
    LEFT JOIN categories AS category ON category.id = piece.categoryId
  ORDER BY entry.date, entry.enteredAtMs, entry.id, length(piece.partId), piece.partId`;

export type MergeRule = 'lww' | 'one-insert-wins' | 'delete-wins' | 'cascade' | 'update-wins';

export interface ConflictRow {
  readonly id: string;
  /** The same for all that lost in one decision of the server. */
  readonly watermark: number;
  readonly tableName: string;
  /** A JSON array of the parts of the row's key. */
  readonly rowKey: string;
  /** NULL: the row as a whole. */
  readonly columnName: string | null;
  readonly rule: MergeRule;
  readonly lostValue: ConflictValue;
  readonly wonValue: ConflictValue;
  readonly lostBy: string;
  readonly wonBy: string;
  readonly lostAtMs: number;
  readonly wonAtMs: number;
  /** What the row is called now. NULL where it has gone. */
  readonly rowName: string | null;
  readonly rowDate: string | null;
  /** Of its amounts. */
  readonly currency: string | null;
  /** Of an entry that is one side of a transfer, and the amount of the other side; else NULL. */
  readonly transferId: string | null;
  readonly otherMinor: number | null;
  /** The row as it is now, as a JSON object by column; NULL where it has gone. */
  readonly currentRow: string | null;
}

export type ConflictValue = string | number | bigint | Uint8Array | null;

/**
 * The latest writes that lost against a concurrent one, from the conflict ledger that Rockpool keeps. No parameters. Without the moments of entering: two
 * devices that import one statement differ in nothing else, and there is nothing to decide. Of a transfer, whose two sides lose together, only one.
 */
export const latestConflicts = `
  WITH conflict AS (
    SELECT *, json_extract(row_key, '$[0]') AS rowId FROM rockpool_conflict
    WHERE column_name IS NULL OR column_name NOT IN ('enteredAtMs', 'createdAtMs', 'assignedAtMs', 'importKey')
    ORDER BY id DESC LIMIT 200
  )
  SELECT conflict.id, conflict.watermark, conflict.table_name AS tableName, conflict.row_key AS rowKey, conflict.column_name AS columnName, conflict.rule,
         conflict.lost_value AS lostValue, conflict.won_value AS wonValue, conflict.lost_by AS lostBy, conflict.won_by AS wonBy,
         conflict.lost_at_ms AS lostAtMs, conflict.won_at_ms AS wonAtMs,
         CASE conflict.table_name
           WHEN 'goals' THEN 'Goal of ' || category.name
           WHEN 'assignments' THEN 'Money for ' || category.name
           WHEN 'importProfiles' THEN 'Statements of ' || account.name
           WHEN 'schedules' THEN CASE WHEN schedule.otherAccountId IS NULL THEN 'Scheduled: ' || schedule.payee ELSE 'Scheduled transfer' END
           WHEN 'rules' THEN 'Rule “' || rule.value || '”'
           ELSE coalesce('Transfer with ' || other.name, entry.payee, category.name, account.name)
         END AS rowName,
         entry.date AS rowDate, coalesce(goal.currency, assignment.currency, account.currency) AS currency, entry.transferId, twin.amountMinor AS otherMinor,
         CASE conflict.table_name
           WHEN 'entries' THEN json_object('date', entry.date, 'payee', entry.payee, 'notes', entry.notes, 'categoryId', entry.categoryId, 'amountMinor', entry.amountMinor, 'status', entry.status)
           WHEN 'parts' THEN json_object('categoryId', part.categoryId, 'amountMinor', part.amountMinor, 'notes', part.notes)
           WHEN 'accounts' THEN json_object('name', account.name, 'kind', account.kind, 'closed', account.closed)
           WHEN 'categories' THEN json_object('name', category.name, 'hidden', category.hidden)
           WHEN 'goals' THEN json_object('kind', goal.kind, 'amountMinor', goal.amountMinor, 'byMonth', goal.byMonth)
           WHEN 'assignments' THEN json_object('amountMinor', assignment.amountMinor)
           WHEN 'rules' THEN json_object('field', rule.field, 'test', rule.test, 'value', rule.value, 'categoryId', rule.categoryId, 'payee', rule.payee)
           WHEN 'schedules' THEN json_object('accountId', schedule.accountId, 'otherAccountId', schedule.otherAccountId, 'payee', schedule.payee, 'notes', schedule.notes, 'categoryId', schedule.categoryId, 'amountMinor', schedule.amountMinor,
                                             'firstDate', schedule.firstDate, 'every', schedule.every, 'unit', schedule.unit, 'lastDate', schedule.lastDate)
           WHEN 'importProfiles' THEN json_object('columns', profile.columns, 'delimiter', profile.delimiter, 'dateOrder', profile.dateOrder, 'decimalMark', profile.decimalMark, 'turnSigns', profile.turnSigns)
         END AS currentRow
  FROM conflict
    LEFT JOIN parts AS part ON conflict.table_name = 'parts' AND part.id = conflict.rowId
    LEFT JOIN entries AS entry ON entry.id = CASE conflict.table_name WHEN 'entries' THEN conflict.rowId WHEN 'parts' THEN part.entryId END
    LEFT JOIN entries AS twin ON twin.transferId = entry.transferId AND twin.id <> entry.id
    LEFT JOIN accounts AS other ON other.id = twin.accountId
    LEFT JOIN goals AS goal ON conflict.table_name = 'goals' AND goal.id = conflict.rowId
    LEFT JOIN assignments AS assignment ON conflict.table_name = 'assignments' AND assignment.id = conflict.rowId
    LEFT JOIN rules AS rule ON conflict.table_name = 'rules' AND rule.id = conflict.rowId
    LEFT JOIN schedules AS schedule ON conflict.table_name = 'schedules' AND schedule.id = conflict.rowId
    LEFT JOIN importProfiles AS profile ON conflict.table_name = 'importProfiles' AND profile.id = conflict.rowId
    LEFT JOIN accounts AS account ON account.id = CASE conflict.table_name WHEN 'accounts' THEN conflict.rowId ELSE coalesce(entry.accountId, schedule.accountId, profile.id) END
    LEFT JOIN categories AS category ON category.id = CASE conflict.table_name WHEN 'categories' THEN conflict.rowId ELSE coalesce(goal.categoryId, assignment.categoryId) END
  WHERE twin.id IS NULL OR entry.id < twin.id OR conflict.column_name NOT IN ('date', 'notes', 'amountMinor')
  ORDER BY conflict.id DESC`;
