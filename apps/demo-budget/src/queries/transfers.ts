export interface OtherSideRow {
  readonly id: string;
}

/**
 * Whether a row of `entries` is not a side of a transfer, or has lost its other side, as it can after concurrent
 * changes by several devices.
 */
export const hasNoOtherSide = `NOT EXISTS (SELECT 1 FROM entries AS twin WHERE twin.transferId = entries.transferId AND twin.id <> entries.id)`;

/**
 * Finds an existing entry that may be the other side of a transfer: it has the given amount, is not split, belongs to
 * no complete transfer, and is at most five days away, because transfers between banks take a few days. Nearest day
 * first. Parameters: the other account's id, amount, day, day, day.
 */
export const otherSideOfTransfer = `
  SELECT id FROM entries
  WHERE accountId = ? AND amountMinor = ? AND ${hasNoOtherSide} AND NOT EXISTS (SELECT 1 FROM parts WHERE entryId = entries.id)
    AND date BETWEEN date(?, '-5 days') AND date(?, '+5 days')
  ORDER BY abs(julianday(date) - julianday(?)), id LIMIT 1`;
