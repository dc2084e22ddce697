export interface RestoreLimitsRow {
  /** 1: the entry, or the other side of its transfer, is reconciled. */
  readonly isLocked: 0 | 1;
  /** 1: its transfer is between accounts of two currencies. */
  readonly isBetweenCurrencies: 0 | 1;
}

/** Selects the restorable values of an entry. Parameter: its id. */
export const restoreLimits = `
  SELECT 'reconciled' IN (entry.status, coalesce(twin.status, '')) AS isLocked,
         coalesce(other.currency <> mine.currency, 0) AS isBetweenCurrencies
  FROM entries AS entry JOIN accounts AS mine ON mine.id = entry.accountId
    LEFT JOIN entries AS twin ON twin.transferId = entry.transferId AND twin.id <> entry.id
    LEFT JOIN accounts AS other ON other.id = twin.accountId
  WHERE entry.id = ?`;
