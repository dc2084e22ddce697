import { useClient } from '@rockpool/client/react';
import type { ReactNode } from 'react';
import { setAccountClosed } from '../accounts/actions.ts';
import type { Budget } from '../budget/budget.ts';
import { useMayWrite } from '../budget/role.ts';
import { useView } from '../budget/view.ts';
import type { AccountRow } from '../queries/accounts.ts';
import { useAction } from '../shell/failure.tsx';
import { hashOf } from '../shell/navigation.ts';

export interface LedgerFootProps {
  readonly budget: Budget;
  /** The account of the ledger; null for all accounts. */
  readonly own: AccountRow | null;
  readonly onHelp: () => void;
  readonly onRename: () => void;
}

/** The actions below a ledger: help, deleted entries, and changes of the account. */
export function LedgerFoot({ budget, own, onHelp, onRename }: LedgerFootProps): ReactNode {
  const client = useClient();
  const run = useAction();
  const mayWrite = useMayWrite();
  const view = useView();
  return (
    <footer className="page-foot buttons">
      <button type="button" className="quiet" onClick={onHelp}>
        Keyboard shortcuts
      </button>
      {mayWrite && view === 'today' && (
        <a className="quiet-link" href={hashOf(budget, { page: 'deleted' })}>
          Deleted entries
        </a>
      )}
      {mayWrite && own !== null && (
        <>
          <button type="button" className="quiet" onClick={onRename}>
            Rename or group this account
          </button>
          <button
            type="button"
            className="quiet"
            onClick={() =>
              run(
                () => setAccountClosed(client, own.id, own.closed === 0),
                own.closed === 0 ? 'Account closed.' : 'Account reopened.',
              )
            }
          >
            {own.closed === 0 ? 'Close this account' : 'Reopen this account'}
          </button>
        </>
      )}
    </footer>
  );
}
