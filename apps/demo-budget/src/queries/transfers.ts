export interface OtherSideRow {
  readonly id: string;
}

/**
 * An entry that is perhaps the other side of a transfer: it has the amount that is looked for, is no side of another
 * one, and is at most five days away, as money between banks takes some. The nearest day first. Parameters: the other
 * account's id, amount, day, day, day.
 */
export const otherSideOfTransfer = `
  SELECT id FROM entries
  WHERE accountId = ? AND amountMinor = ? AND transferId IS NULL AND NOT EXISTS (SELECT 1 FROM parts WHERE entryId = entries.id)
    AND date BETWEEN date(?, '-5 days') AND date(?, '+5 days')
  ORDER BY abs(julianday(date) - julianday(?)), id LIMIT 1`;
