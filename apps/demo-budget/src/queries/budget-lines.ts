/**
 * What the parts of split entries put into their categories, and what they take from their entry's own, as arms of
 * `line`. Accounts off budget have none. Crosswise, which has SQLite begin with the parts: they are few, and entries
 * are many.
 */
export const partLines = `
    SELECT entry.id, entry.date, account.currency, piece.categoryId, piece.amountMinor, entry.amountMinor < 0, entry.transferId
    FROM (
        SELECT part.entryId, part.categoryId, part.amountMinor FROM parts AS part
        UNION ALL
        SELECT part.entryId, whole.categoryId, -part.amountMinor FROM parts AS part JOIN entries AS whole ON whole.id = part.entryId
      ) AS piece
      CROSS JOIN entries AS entry ON entry.id = piece.entryId
      CROSS JOIN accounts AS account ON account.id = entry.accountId AND account.kind <> 'off-budget'`;

export const lineColumns = 'entryId, date, currency, categoryId, amountMinor, wentOut, transferId';

/**
 * What each category got of each entry that the budget knows, as the table `line`: entries, then the parts of split
 * ones, each part taken from its entry's category and put into its own. So the lines of an entry always add up to its
 * amount, also while its parts do not. Accounts off budget have none.
 */
export const budgetLines = `
  line (${lineColumns}) AS (
    SELECT entry.id, entry.date, account.currency, entry.categoryId, entry.amountMinor, entry.amountMinor < 0, entry.transferId
    FROM entries AS entry JOIN accounts AS account ON account.id = entry.accountId AND account.kind <> 'off-budget'
    UNION ALL ${partLines}
  )`;

/**
 * Months and accounts that sums are made for, as tables: each sum is then a range of an index, and nothing has to be
 * sorted or joined. They read the parameters from a table `asked`.
 *
 * `known`: the months that there are entries in, from the first to the first one after `asked.lastMonth`, a step into
 * an index each.
 */
export const knownMonths = `
  known (month) AS (
    SELECT substr(min(date), 1, 7) FROM entries
    UNION ALL
    SELECT (SELECT substr(min(date), 1, 7) FROM entries WHERE date > known.month || '-31') FROM known WHERE known.month <= (SELECT lastMonth FROM asked)
  )`;

/** `period`: the months from that of `asked.firstDay` to that of `asked.lastDay`. */
export const askedMonths = `
  period (month) AS (
    SELECT substr(firstDay, 1, 7) FROM asked
    UNION ALL
    SELECT substr(date(period.month || '-01', '+1 month'), 1, 7) FROM period WHERE period.month < (SELECT substr(lastDay, 1, 7) FROM asked)
  )`;

/** `own`: the accounts on budget in `asked.currency`. */
export const ownAccounts = `
  own (id) AS MATERIALIZED (SELECT id FROM accounts WHERE currency = (SELECT currency FROM asked) AND kind <> 'off-budget')`;
