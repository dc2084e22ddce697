import type { ReactNode } from 'react';
import { totalsByCurrency } from '../accounts/totals.ts';
import { useMayWrite } from '../budget/role.ts';
import { clearedOfAccount, type AccountRow, type ClearedRow } from '../queries/accounts.ts';
import { Amount } from '../shell/amount.tsx';
import { locale } from '../shell/locale.ts';
import { useQuery } from '../shell/use-query.ts';

export interface LedgerHeadProps {
  /** The account of the ledger; null for all accounts. */
  readonly own: AccountRow | null;
  readonly accounts: readonly AccountRow[];
  /** The account actions, shown to users who may write. */
  readonly children: ReactNode;
}

/** The name of the ledger, its balance and its number of entries. */
export function LedgerHead({ own, accounts, children }: LedgerHeadProps): ReactNode {
  const mayWrite = useMayWrite();
  return (
    <header className="page-head">
      <div>
        <h1>{own?.name ?? 'All accounts'}</h1>
        {own === null ? (
          <p className="balance">
            {totalsByCurrency(accounts).map(({ currency, totalMinor }) => (
              <Amount key={currency} minor={totalMinor} currency={currency} />
            ))}
            <span className="hint">{entriesWord(accounts.reduce((sum, { entryCount }) => sum + entryCount, 0))}</span>
          </p>
        ) : (
          <p className="balance">
            <Amount minor={own.balanceMinor} currency={own.currency} />
            <span className="hint">{entriesWord(own.entryCount)}</span>
            <ClearedBalance account={own} />
          </p>
        )}
      </div>
      {mayWrite && <div className="buttons">{children}</div>}
    </header>
  );
}

function ClearedBalance({ account }: { readonly account: AccountRow }): ReactNode {
  const { rows } = useQuery<ClearedRow>(clearedOfAccount, [account.id, account.id, account.id]);
  const [cleared] = rows;
  if (
    cleared === undefined ||
    cleared.clearedMinor === account.balanceMinor ||
    cleared.clearedMinor === account.openingMinor
  )
    return null;
  return (
    <span className="hint">
      <Amount minor={cleared.clearedMinor} currency={account.currency} /> cleared
    </span>
  );
}

function entriesWord(count: number): string {
  return count === 1 ? '1 entry' : `${count.toLocaleString(locale)} entries`;
}
