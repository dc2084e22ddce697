/**
 * The terms of `line` for split entries: each part with its own category, and the opposite amount for the category of
 * its entry. Off-budget accounts have none. Neither have transfers: if another device splits an entry that becomes a
 * transfer, its parts do not count. CROSS JOIN makes SQLite start with the parts, which are few compared with entries.
 */
export const partLines = `
    SELECT entry.id, entry.date, account.currency, piece.categoryId, piece.amountMinor, entry.amountMinor < 0, entry.transferId
    FROM (
        SELECT part.entryId, part.categoryId, part.amountMinor FROM parts AS part
        UNION ALL
        SELECT part.entryId, whole.categoryId, -part.amountMinor FROM parts AS part JOIN entries AS whole ON whole.id = part.entryId
      ) AS piece
      CROSS JOIN entries AS entry ON entry.id = piece.entryId AND entry.transferId IS NULL
      CROSS JOIN accounts AS account ON account.id = entry.accountId AND account.kind <> 'off-budget'`;

export const lineColumns = 'entryId, date, currency, categoryId, amountMinor, wentOut, transferId';

/**
 * The table `line`: the amount per category of each on-budget entry. It lists entries, then the parts of split ones,
 * each moved from its entry's category to its own. The lines of an entry therefore always add up to its amount, even
 * while its parts do not. Off-budget accounts have none.
 */
export const budgetLines = `
  line (${lineColumns}) AS (
    SELECT entry.id, entry.date, account.currency, entry.categoryId, entry.amountMinor, entry.amountMinor < 0, entry.transferId
    FROM entries AS entry JOIN accounts AS account ON account.id = entry.accountId AND account.kind <> 'off-budget'
    UNION ALL ${partLines}
  )`;

/**
 * The table `begins`: the day on which a budget month begins, as two digits. A month that begins after the 1st has the
 * name of the calendar month in which it begins. The tables and expressions below require `begins`.
 */
export const monthBegins = `
  begins (firstDay) AS MATERIALIZED (
    SELECT printf('%02d', coalesce((
      SELECT CAST(value AS INTEGER) FROM settings WHERE id = 'first-day' AND CAST(value AS INTEGER) BETWEEN 1 AND 28 AND value = CAST(value AS INTEGER)
    ), 1))
  )`;

/** The SQL expression of the budget month of a day, which is an SQL expression too. */
export function monthOfDay(day: string): string {
  return `CASE WHEN substr(${day}, 9, 2) >= (SELECT firstDay FROM begins) THEN substr(${day}, 1, 7) ELSE substr(date(substr(${day}, 1, 7) || '-01', '-1 month'), 1, 7) END`;
}

/** The 31st can serve as the last day of any calendar month, because days are only compared as text. */
function lastDayOf(month: string): string {
  return `CASE (SELECT firstDay FROM begins) WHEN '01' THEN ${month} || '-31' ELSE substr(date(${month} || '-01', '+1 month'), 1, 8) || printf('%02d', (SELECT firstDay FROM begins) - 1) END`;
}

/**
 * Tables of the months and accounts to sum over. Each sum is then a range of an index, without a sort or join. They
 * read the parameters from a table `asked`.
 *
 * `known`: the months that have entries, from the first to the first one after `asked.lastMonth`; each costs one index
 * look-up.
 */
export const knownMonths = `
  ${monthBegins},
  knownMonth (month) AS (
    SELECT ${monthOfDay('day')} FROM (SELECT min(date) AS day FROM entries)
    UNION ALL
    SELECT (SELECT ${monthOfDay('day')} FROM (SELECT min(date) AS day FROM entries WHERE date > ${lastDayOf('knownMonth.month')}))
    FROM knownMonth WHERE knownMonth.month <= (SELECT lastMonth FROM asked)
  ),
  known (month, firstDay, lastDay) AS MATERIALIZED (
    SELECT month, month || '-' || begins.firstDay, ${lastDayOf('month')} FROM knownMonth, begins
  )`;

/** `period`: the months from `asked.firstDay` to `asked.lastDay`, each with its days in this range. */
export const askedMonths = `
  ${monthBegins},
  periodMonth (month) AS (
    SELECT ${monthOfDay('asked.firstDay')} FROM asked
    UNION ALL
    SELECT substr(date(month || '-01', '+1 month'), 1, 7) FROM periodMonth WHERE month < (SELECT ${monthOfDay('asked.lastDay')} FROM asked)
  ),
  period (month, firstDay, lastDay) AS MATERIALIZED (
    SELECT month, max(month || '-' || begins.firstDay, asked.firstDay), min(${lastDayOf('month')}, asked.lastDay) FROM periodMonth, begins, asked
  )`;

/** `own`: the on-budget accounts in `asked.currency`. */
export const ownAccounts = `
  own (id) AS MATERIALIZED (SELECT id FROM accounts WHERE currency = (SELECT currency FROM asked) AND kind <> 'off-budget')`;
