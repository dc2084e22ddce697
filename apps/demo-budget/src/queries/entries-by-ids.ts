/**
 * Day, payee and currency of entries; for a transfer, the other account stands for the payee. Parameter: ids as a JSON
 * array.
 */
export const entriesByIds = `
  SELECT entry.id, entry.date, account.currency,
         CASE WHEN entry.transferId IS NULL THEN entry.payee ELSE coalesce('Transfer, ' || other.name, 'Transfer') END AS payee
  FROM entries AS entry JOIN accounts AS account ON account.id = entry.accountId
    LEFT JOIN entries AS twin ON twin.transferId = entry.transferId AND twin.id <> entry.id
    LEFT JOIN accounts AS other ON other.id = twin.accountId
  WHERE entry.id IN (SELECT value FROM json_each(?))`;
