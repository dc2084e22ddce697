import type { AccountKind } from '../schema.ts';

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

export interface CurrencyRow {
  readonly currency: string;
  /** What its accounts on budget held before their first entries. */
  readonly openingMinor: number | bigint;
}

/** The currencies that accounts are kept in, that of the first account first. No parameters. */
export const currenciesOfAccounts = `
  SELECT currency, coalesce(sum(openingMinor) FILTER (WHERE kind <> 'off-budget'), 0) AS openingMinor
  FROM accounts GROUP BY currency ORDER BY min(closed), min(createdAtMs), currency`;

export interface AccountKindRow {
  readonly kind: AccountKind;
}

/** What kind of account it is. Parameter: account id. */
export const kindOfAccount = `
  SELECT kind FROM accounts WHERE id = ?`;
