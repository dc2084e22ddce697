import { useClient } from '@rockpool/client/react';
import { useCallback, useMemo, useRef, useState, type ReactNode } from 'react';
import { flushSync } from 'react-dom';
import { setAccountClosed } from '../accounts/actions.ts';
import type { Budget } from '../budget/budget.ts';
import {
  accountsWithBalances,
  categoriesByName,
  frequentPayees,
  ledgerOfAccount,
  type AccountRow,
  type CategoryRow,
  type LedgerRow,
  type PayeeRow,
} from '../queries.ts';
import { Amount } from '../shell/amount.tsx';
import { useAction } from '../shell/failure.tsx';
import { hashOf } from '../shell/navigation.ts';
import { useQuery, useSteadyQuery } from '../shell/use-query.ts';
import { addEntry, changeEntry, deleteEntry, setCategory, undoDelete, type DeletedEntry } from './actions.ts';
import { EntryForm } from './entry-form.tsx';
import { entryButtonId, EntryRow } from './entry-row.tsx';
import { SamePayeeOffer, type SamePayee } from './same-payee-offer.tsx';

/** As many rows as a phone draws without a pause; the rest is one press away. */
const rowsPerPage = 150;

/** The ledger of one account: every entry with the balance after it, changed in place. */
export function EntriesView({ budget, accountId }: { readonly budget: Budget; readonly accountId: string }): ReactNode {
  const accounts = useQuery<AccountRow>(accountsWithBalances);
  const account = accounts.rows.find((candidate) => candidate.id === accountId);
  if (account !== undefined) return <Ledger key={account.id} budget={budget} account={account} />;
  if (accounts.loading) return null;
  return (
    <>
      <h1>No such account</h1>
      <p>
        It may not have arrived from the server yet. <a href={hashOf(budget)}>All accounts</a>
      </p>
    </>
  );
}

function Ledger({ budget, account }: { readonly budget: Budget; readonly account: AccountRow }): ReactNode {
  const client = useClient();
  const run = useAction();
  const [search, setSearch] = useState('');
  const [rowLimit, setRowLimit] = useState(rowsPerPage);
  const [adding, setAdding] = useState(false);
  const [edited, setEdited] = useState<LedgerRow | null>(null);
  const [samePayee, setSamePayee] = useState<SamePayee | null>(null);
  const [deleted, setDeleted] = useState<DeletedEntry | null>(null);
  const newEntryButton = useRef<HTMLButtonElement>(null);
  const searched = search.trim();
  const ledger = useSteadyQuery<LedgerRow>(ledgerOfAccount, [account.id, searched, searched, rowLimit]);
  const { rows: categories } = useQuery<CategoryRow>(categoriesByName);
  const { rows: payeeRows } = useQuery<PayeeRow>(frequentPayees);
  const payees = useMemo(() => payeeRows.map((row) => row.payee), [payeeRows]);

  const chooseCategory = useCallback(
    (entry: LedgerRow, categoryId: string | null) => {
      run(() => setCategory(client, entry.id, categoryId));
      const category = categories.find((candidate) => candidate.id === categoryId);
      setSamePayee(category === undefined || entry.payee === '' ? null : { payee: entry.payee, categoryId: category.id, categoryName: category.name });
    },
    [categories, client, run],
  );

  // What had the focus goes when a form closes; a keyboard goes on from where it came.
  const leaveRow = (entry: LedgerRow): void => {
    flushSync(() => setEdited(null));
    document.getElementById(entryButtonId(entry.id))?.focus();
  };
  const leaveNewEntry = (): void => {
    flushSync(() => setAdding(false));
    newEntryButton.current?.focus();
  };

  return (
    <>
      <header className="page-head">
        <div>
          <h1>{account.name}</h1>
          <p className="balance">
            <Amount minor={account.balanceMinor} currency={account.currency} />
            <span className="hint">{account.entryCount === 1 ? '1 entry' : `${account.entryCount} entries`}</span>
          </p>
        </div>
        <div className="buttons">
          <button type="button" ref={newEntryButton} className="primary" onClick={() => setAdding(true)}>
            New entry
          </button>
          <a className="button" href={hashOf(budget, { page: 'import', accountId: account.id })}>
            Import
          </a>
        </div>
      </header>
      {adding && (
        <div className="card">
          <EntryForm
            currency={account.currency}
            categories={categories}
            payees={payees}
            onSave={(fields) => {
              run(() => addEntry(client, account.id, fields));
              leaveNewEntry();
            }}
            onCancel={leaveNewEntry}
          />
        </div>
      )}
      {deleted !== null && (
        <p className="offer" role="status">
          <span>{deleted.payee === '' ? 'The entry' : deleted.payee} was deleted.</span>
          <button
            type="button"
            onClick={() => {
              run(() => undoDelete(client, deleted));
              setDeleted(null);
            }}
          >
            Undo
          </button>
          <button type="button" className="quiet" onClick={() => setDeleted(null)}>
            Close
          </button>
        </p>
      )}
      {samePayee !== null && <SamePayeeOffer {...samePayee} onDone={() => setSamePayee(null)} />}
      {account.entryCount > 0 && (
        <input type="search" className="search" aria-label="Search entries" placeholder="Search payees and notes" value={search} onChange={(event) => setSearch(event.target.value)} />
      )}
      {ledger.rows.length > 0 && (
        <table role="table" className="ledger" aria-label={`Entries of ${account.name}`}>
          <thead role="rowgroup">
            <tr role="row">
              <th role="columnheader" scope="col">Date</th>
              <th role="columnheader" scope="col">Payee and notes</th>
              <th role="columnheader" scope="col">Category</th>
              <th role="columnheader" scope="col" className="number">Amount</th>
              <th role="columnheader" scope="col" className="number">Balance</th>
            </tr>
          </thead>
          <tbody role="rowgroup">
            {ledger.rows.map((entry) =>
              entry.id === edited?.id ? (
                <tr role="row" key={entry.id} className="entry-edited">
                  <td role="cell" colSpan={5}>
                    <EntryForm
                      entry={edited}
                      currency={account.currency}
                      categories={categories}
                      payees={payees}
                      onSave={(fields) => {
                        run(() => changeEntry(client, edited.id, edited, fields));
                        leaveRow(edited);
                      }}
                      onCancel={() => leaveRow(edited)}
                      onDelete={() => {
                        run(async () => setDeleted((await deleteEntry(client, edited.id)) ?? null));
                        setEdited(null);
                      }}
                    />
                  </td>
                </tr>
              ) : (
                <EntryRow key={entry.id} entry={entry} currency={account.currency} categories={categories} onEdit={setEdited} onCategory={chooseCategory} />
              ),
            )}
          </tbody>
        </table>
      )}
      {ledger.rows.length === rowLimit && (
        <button type="button" className="more" onClick={() => setRowLimit(rowLimit + rowsPerPage)}>
          Show older entries
        </button>
      )}
      {!ledger.loading && ledger.rows.length === 0 && (
        <p className="empty">{account.entryCount === 0 ? 'No entries yet. Add one, or import a statement of your bank.' : 'Nothing found.'}</p>
      )}
      <footer className="page-foot">
        <button type="button" className="quiet" onClick={() => run(() => setAccountClosed(client, account.id, account.closed === 0))}>
          {account.closed === 0 ? 'Close this account' : 'Open this account again'}
        </button>
      </footer>
    </>
  );
}
