import type { ReactNode } from 'react';
import type { Budget } from '../budget/budget.ts';
import { accountsWithBalances, type AccountRow } from '../queries/accounts.ts';
import { hashOf } from '../shell/navigation.ts';
import { NoAccountYet } from '../shell/no-account-yet.tsx';
import { useQuery } from '../shell/use-query.ts';
import { Ledger } from './ledger.tsx';

/**
 * The ledger of one account, in which every entry has a running balance, or of all accounts, in which every entry has
 * its account. Entries are edited in place.
 */
export function EntriesView({ budget, accountId }: { readonly budget: Budget; readonly accountId: string }): ReactNode {
  const accounts = useQuery<AccountRow>(accountsWithBalances);
  const account = accounts.rows.find((candidate) => candidate.id === accountId);
  if (account !== undefined) return <Ledger key={account.id} budget={budget} own={account} accounts={accounts.rows} />;
  if (accounts.loading) return null;
  if (accountId === '') {
    if (accounts.rows.length > 0) return <Ledger key="all" budget={budget} own={null} accounts={accounts.rows} />;
    return (
      <>
        <h1>All accounts</h1>
        <NoAccountYet budget={budget}>No entries yet.</NoAccountYet>
      </>
    );
  }
  return (
    <>
      <h1>Account not found</h1>
      <p>
        It may not have synced to this device yet. <a href={hashOf(budget)}>All accounts</a>
      </p>
    </>
  );
}
