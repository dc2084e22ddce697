/**
 * The parts of split entries, each with its own category, and the opposite amounts for their entries' categories, as
 * arms of `line`. Off-budget accounts have none. CROSS JOIN makes SQLite start with the parts, which are few compared
 * with entries.
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
 * Tables of the months and accounts to sum over. Each sum is then a range of an index, without a sort or join. They
 * read the parameters from a table `asked`.
 *
 * `known`: the months that have entries, from the first to the first one after `asked.lastMonth`; each costs one index
 * look-up.
 */
export const knownMonths = `
  known (month) AS (
    SELECT substr(min(date), 1, 7) FROM entries
    UNION ALL
    SELECT (SELECT substr(min(date), 1, 7) FROM entries WHERE date > known.month || '-31') FROM known WHERE known.month <= (SELECT lastMonth FROM asked)
  )`;

/** `period`: the months from `asked.firstDay` to `asked.lastDay`. */
export const askedMonths = `
  period (month) AS (
    SELECT substr(firstDay, 1, 7) FROM asked
    UNION ALL
    SELECT substr(date(period.month || '-01', '+1 month'), 1, 7) FROM period WHERE period.month < (SELECT substr(lastDay, 1, 7) FROM asked)
  )`;

/** `own`: the on-budget accounts in `asked.currency`. */
export const ownAccounts = `
  own (id) AS MATERIALIZED (SELECT id FROM accounts WHERE currency = (SELECT currency FROM asked) AND kind <> 'off-budget')`;
