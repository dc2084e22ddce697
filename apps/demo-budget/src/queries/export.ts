export interface CountRow {
  readonly count: number;
}

/** The parts of a transfer do not count; see `partLines`. */
const partsInUse = 'parts JOIN entries ON entries.id = parts.entryId AND entries.transferId IS NULL';
const dividedMinor = '(SELECT sum(amountMinor) FROM parts WHERE entryId = entry.id AND entry.transferId IS NULL)';

/** The number of rows of `exportedLines`. Parameter: an account's id, or NULL for all accounts. */
export const entryLineCount = `
  WITH asked (accountId) AS (VALUES (?))
  SELECT (SELECT count(*) FROM ${partsInUse}, asked WHERE asked.accountId IS NULL OR entries.accountId = asked.accountId)
    + (SELECT count(*) FROM entries AS entry, asked WHERE (asked.accountId IS NULL OR entry.accountId = asked.accountId) AND amountMinor IS NOT ${dividedMinor}) AS count`;

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

/**
 * Every entry, oldest first: the remainder that its parts leave, if any, then its parts. Parameter: an account's id, or
 * NULL for all accounts.
 */
export const exportedLines = `
  WITH asked (accountId) AS (VALUES (?)), piece (entryId, partId, categoryId, notes, amountMinor) AS (
    SELECT entry.id, '', entry.categoryId, entry.notes, entry.amountMinor - coalesce(${dividedMinor}, 0)
    FROM entries AS entry WHERE entry.amountMinor IS NOT ${dividedMinor}
    UNION ALL
    SELECT parts.entryId, parts.id, parts.categoryId, parts.notes, parts.amountMinor FROM ${partsInUse}
  )
  SELECT entry.id AS entryId, entry.date, account.name AS accountName, entry.payee, piece.notes, category.name AS categoryName, piece.amountMinor, account.currency, entry.status
  FROM piece
    JOIN entries AS entry ON entry.id = piece.entryId
    JOIN accounts AS account ON account.id = entry.accountId
    LEFT JOIN categories AS category ON category.id = piece.categoryId
  WHERE (SELECT accountId FROM asked) IS NULL OR entry.accountId = (SELECT accountId FROM asked)
  ORDER BY entry.date, entry.enteredAtMs, entry.id, length(piece.partId), piece.partId`;
