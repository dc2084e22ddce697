import { useClient, useSyncStatus } from '@rockpool/client/react';
import { useState, type ReactNode } from 'react';
import type { Budget } from '../budget/budget.ts';
import type { KnownBudget } from '../budget/known-budgets.ts';
import { useMayWrite } from '../budget/role.ts';
import { accountsWithBalances, type AccountRow } from '../queries/accounts.ts';
import { categoryNames, type CategoryNameRow } from '../queries/categories.ts';
import { SampleButton } from '../sample/sample-button.tsx';
import { DueOffer } from '../schedules/due-offer.tsx';
import { Amount } from '../shell/amount.tsx';
import { locale } from '../shell/locale.ts';
import { hashOf } from '../shell/navigation.ts';
import { useQuery } from '../shell/use-query.ts';
import { AccountForm } from './account-form.tsx';
import { accountKindWords } from './kinds.ts';
import { totalsByCurrency } from './totals.ts';

/** All accounts with their balances. */
export function AccountsView({ budget }: { readonly budget: KnownBudget }): ReactNode {
  const accountQuery = useQuery<AccountRow>(accountsWithBalances);
  const categoryQuery = useQuery<CategoryNameRow>(categoryNames);
  const { state } = useSyncStatus();
  const { rows: accounts } = accountQuery;
  const isEmpty = accounts.length === 0 && !accountQuery.loading && !categoryQuery.loading;
  // The app adds categories to a new budget. One that was opened by a link and has none is usually still on its way.
  const hasArrived = budget.madeHere || categoryQuery.rows.length > 0 || state === 'up-to-date';
  const mayWrite = useMayWrite();
  const [opened, setAdding] = useState(false);
  const adding = opened && mayWrite;
  const open = accounts.filter((account) => account.closed === 0);
  const closed = accounts.filter((account) => account.closed === 1);
  const done = (accountId: string | null): void => {
    setAdding(false);
    if (accountId !== null) location.hash = hashOf(budget, { page: 'entries', accountId });
  };

  return (
    <>
      <header className="page-head">
        <h1>Accounts</h1>
        {mayWrite && !adding && (accounts.length > 0 || (isEmpty && !hasArrived)) && (
          <button type="button" className="primary" onClick={() => setAdding(true)}>
            New account
          </button>
        )}
      </header>
      <DueOffer budget={budget} />
      {adding && <AccountForm onDone={done} />}
      {isEmpty && !adding && mayWrite && hasArrived && <Welcome budget={budget} onAdd={() => setAdding(true)} />}
      {isEmpty && !(mayWrite && hasArrived) && (
        <p className="empty">No accounts yet. If you joined a shared budget, they may still be syncing.</p>
      )}
      {accounts.length > 0 && <Totals accounts={accounts} />}
      {accounts.length > 1 && (
        <p>
          <a href={hashOf(budget, { page: 'entries' })}>All accounts in one register</a>
        </p>
      )}
      {[...Map.groupBy(open, ({ groupName }) => groupName)].map(([groupName, members]) => (
        <section key={groupName} className="account-group">
          {groupName !== '' && (
            <h2>
              {groupName}{' '}
              {totalsByCurrency(members).map(({ currency, totalMinor }) => (
                <Amount key={currency} minor={totalMinor} currency={currency} />
              ))}
            </h2>
          )}
          <AccountList budget={budget} accounts={members} />
        </section>
      ))}
      {closed.length > 0 && (
        <details className="account-group">
          <summary>Closed accounts ({closed.length.toLocaleString(locale)})</summary>
          <AccountList budget={budget} accounts={closed} />
        </details>
      )}
    </>
  );
}

interface AccountListProps {
  readonly budget: Budget;
  readonly accounts: readonly AccountRow[];
}

function AccountList({ budget, accounts }: AccountListProps): ReactNode {
  return (
    <ul className="account-list">
      {accounts.map((account) => (
        <li key={account.id}>
          <a className="card account-card" href={hashOf(budget, { page: 'entries', accountId: account.id })}>
            <span className="account-name">{account.name}</span>
            <span className="account-facts">
              {account.closed === 1 ? 'Closed' : accountKindWords[account.kind]} ·{' '}
              {account.entryCount === 1 ? '1 entry' : `${account.entryCount.toLocaleString(locale)} entries`}
            </span>
            <Amount minor={account.balanceMinor} currency={account.currency} />
          </a>
        </li>
      ))}
    </ul>
  );
}

function Totals({ accounts }: { readonly accounts: readonly AccountRow[] }): ReactNode {
  return (
    <dl className="totals">
      {totalsByCurrency(accounts).map(({ currency, totalMinor }) => (
        <div key={currency}>
          <dt>Total in {currency}</dt>
          <dd>
            <Amount minor={totalMinor} currency={currency} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

function Welcome({ budget, onAdd }: { readonly budget: Budget; readonly onAdd: () => void }): ReactNode {
  const client = useClient();
  return (
    <section className="card welcome">
      <h2>A budget that lives on your device</h2>
      <p>
        Everything you enter is saved in this browser and works offline. When you are online, it syncs with the server
        and with everyone you share the budget with.
      </p>
      <div className="buttons">
        <button type="button" className="primary" onClick={onAdd}>
          Add your first account
        </button>
        <a className="button" href={hashOf(budget, { page: 'import' })}>
          Import a bank statement
        </a>
        {client.status.current.persistence !== 'memory' && <SampleButton />}
      </div>
    </section>
  );
}
