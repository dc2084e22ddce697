import type { AccountRow } from '../queries/accounts.ts';

export interface CurrencyTotal {
  readonly currency: string;
  readonly totalMinor: bigint;
}

/** The total of the open accounts, one per currency: amounts of different currencies are never added. */
export function totalsByCurrency(accounts: readonly AccountRow[]): readonly CurrencyTotal[] {
  const totals = new Map<string, bigint>();
  for (const account of accounts) {
    if (account.closed === 0)
      totals.set(account.currency, (totals.get(account.currency) ?? 0n) + BigInt(account.balanceMinor));
  }
  return [...totals].map(([currency, totalMinor]) => ({ currency, totalMinor }));
}
