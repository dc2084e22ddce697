import type { AccountKind } from '../schema.ts';

export interface AccountRow {
  readonly id: string;
  readonly name: string;
  readonly kind: AccountKind;
  readonly currency: string;
  readonly openingMinor: number;
  /** Empty for none. */
  readonly groupName: string;
  readonly closed: 0 | 1;
  readonly balanceMinor: number | bigint;
  readonly entryCount: number;
}

/** All accounts with their balances, closed ones last. No parameters. */
export const accountsWithBalances = `
  SELECT account.id, account.name, account.kind, account.currency, account.openingMinor, account.groupName, account.closed,
         account.openingMinor + coalesce(moved.totalMinor, 0) AS balanceMinor, coalesce(moved.entryCount, 0) AS entryCount
  FROM accounts AS account
    LEFT JOIN (SELECT accountId, sum(amountMinor) AS totalMinor, count(*) AS entryCount FROM entries GROUP BY accountId) AS moved ON moved.accountId = account.id
  ORDER BY account.closed, account.createdAtMs, account.id`;

export interface ClearedRow {
  /** The opening balance and every entry that the bank has confirmed. */
  readonly clearedMinor: number | bigint;
  /** The number of cleared entries that are not reconciled yet. */
  readonly toReconcile: number;
}

/** The balance that the bank should show for an account. Parameters: account id, three times. */
export const clearedOfAccount = `
  SELECT (SELECT openingMinor FROM accounts WHERE id = ?) + (SELECT coalesce(sum(amountMinor), 0) FROM entries WHERE accountId = ? AND status IN ('cleared', 'reconciled')) AS clearedMinor,
         (SELECT count(*) FROM entries WHERE accountId = ? AND status = 'cleared') AS toReconcile`;

export interface CurrencyRow {
  readonly currency: string;
  /** Total opening balance of the on-budget accounts in the currency. */
  readonly openingMinor: number | bigint;
}

/** The currencies of the accounts, starting with that of the first account. No parameters. */
export const currenciesOfAccounts = `
  SELECT currency, coalesce(sum(openingMinor) FILTER (WHERE kind <> 'off-budget'), 0) AS openingMinor
  FROM accounts GROUP BY currency ORDER BY min(closed), min(createdAtMs), currency`;

export interface AccountKindRow {
  readonly kind: AccountKind;
}

/** The kind of an account. Parameter: account id. */
export const kindOfAccount = `
  SELECT kind FROM accounts WHERE id = ?`;

/** The names of the groups of accounts. No parameters. */
export const groupsOfAccounts = `
  SELECT DISTINCT groupName FROM accounts WHERE groupName <> '' ORDER BY groupName COLLATE NOCASE`;

export interface AccountToReconcileRow {
  readonly id: string;
  readonly name: string;
}

/** The open accounts with cleared entries that are not reconciled. Parameter: currency. */
export const accountsToReconcile = `
  SELECT id, name FROM accounts AS account
  WHERE currency = ? AND closed = 0 AND EXISTS (SELECT 1 FROM entries WHERE status = 'cleared' AND accountId = account.id)
  ORDER BY createdAtMs, id`;
