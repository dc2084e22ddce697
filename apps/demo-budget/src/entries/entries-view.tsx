import { useClient } from '@rockpool/client/react';
import { lazy, Suspense, useCallback, useMemo, useRef, useState, type ReactNode } from 'react';
import { flushSync } from 'react-dom';
import { setAccountClosed } from '../accounts/actions.ts';
import { totalsByCurrency } from '../accounts/totals.ts';
import { RenameForm } from '../accounts/rename-form.tsx';
import type { Budget } from '../budget/budget.ts';
import { useMayWrite } from '../budget/role.ts';
import { isPast, useView } from '../budget/view.ts';
import { accountsWithBalances, clearedOfAccount, type AccountRow, type ClearedRow } from '../queries/accounts.ts';
import { categoriesByName, type CategoryRow } from '../queries/categories.ts';
import {
  ledgerTotals,
  partsOfEntry,
  wholeLedger,
  type LedgerFilter,
  type LedgerRow,
  type LedgerTotalsRow,
  type PartRow,
} from '../queries/ledger.ts';
import { EntryNote } from '../notes/entry-note.tsx';
import { ReconcileBar } from '../reconcile/reconcile-bar.tsx';
import { suggestFor } from '../rules/suggest.ts';
import { Amount } from '../shell/amount.tsx';
import { useAction, useSave, useTask } from '../shell/failure.tsx';
import { KeysHelp } from '../shell/keys-help.tsx';
import { formatDay, locale } from '../shell/locale.ts';
import { hashOf } from '../shell/navigation.ts';
import { useQuery, useSteadyQuery } from '../shell/use-query.ts';
import { deleteEntries, setCategory, setCleared, unlock } from './actions.ts';
import { EntryDetails } from './entry-details.tsx';
import { EntryForm, type FormResult } from './entry-form.tsx';
import { entryButtonId, entryName, noteButtonId } from './entry-row.tsx';
import { FilterBar } from './filter-bar.tsx';
import { LedgerTable } from './ledger-table.tsx';
import { SamePayeeOffer, type SamePayee } from './same-payee-offer.tsx';
import { saveChanged, saveNew } from './save.ts';
import { nothingSelected, selectedCount, withEntry, type Selection } from './selection.ts';
import { SelectionBar } from './selection-bar.tsx';
import { useHeightVariable } from '../shell/use-height-variable.ts';
import { useLedgerKeys } from './use-ledger-keys.ts';

const EntryHistory = lazy(() => import('../history/entry-history.tsx'));

/**
 * The ledger of one account, every entry with its running balance, or of all accounts, every entry with its account.
 * Entries are edited in place.
 */
export function EntriesView({ budget, accountId }: { readonly budget: Budget; readonly accountId: string }): ReactNode {
  const accounts = useQuery<AccountRow>(accountsWithBalances);
  const account = accounts.rows.find((candidate) => candidate.id === accountId);
  if (account !== undefined) return <Ledger key={account.id} budget={budget} own={account} accounts={accounts.rows} />;
  if (accounts.loading) return null;
  if (accountId === '' && accounts.rows.length > 0)
    return <Ledger key="all" budget={budget} own={null} accounts={accounts.rows} />;
  return (
    <>
      <h1>Account not found</h1>
      <p>
        It may not have synced to this device yet. <a href={hashOf(budget)}>All accounts</a>
      </p>
    </>
  );
}

interface LedgerProps {
  readonly budget: Budget;
  /** The account of the ledger; null for all accounts. */
  readonly own: AccountRow | null;
  readonly accounts: readonly AccountRow[];
}

/** The entry being edited, as it was when its form was opened. */
interface Edited {
  readonly entry: LedgerRow;
  readonly parts: readonly PartRow[];
}

function Ledger({ budget, own, accounts }: LedgerProps): ReactNode {
  const client = useClient();
  const run = useAction();
  const save = useSave();
  const runTask = useTask();
  const mayWrite = useMayWrite();
  const view = useView();
  const [filter, setFilter] = useState<LedgerFilter>(wholeLedger);
  const [adding, setAdding] = useState(false);
  const [edited, setEdited] = useState<Edited | null>(null);
  // The entry with its note or history open.
  const [noted, setNoted] = useState<LedgerRow | null>(null);
  const [recalled, setRecalled] = useState<LedgerRow | null>(null);
  const [selection, setSelection] = useState<Selection>(nothingSelected);
  const [samePayee, setSamePayee] = useState<SamePayee | null>(null);
  const [reconciling, setReconciling] = useState(false);
  const [renaming, setRenaming] = useState(false);
  const [helping, setHelping] = useState(false);
  const newEntryButton = useRef<HTMLButtonElement>(null);
  const tools = useRef<HTMLDivElement>(null);
  useHeightVariable(tools, '--ledger-tools-height');
  const searchField = useRef<HTMLInputElement>(null);
  const [newAccountId, setNewAccountId] = useState<string | null>(null);
  const openAccounts = accounts.filter(({ closed }) => closed === 0);
  // Where a new entry goes, or the account of the entry being edited.
  const account =
    own ??
    accounts.find(({ id }) => id === (edited?.entry.accountId ?? newAccountId)) ??
    openAccounts[0] ??
    (accounts[0] as AccountRow);
  const ownId = own?.id ?? null;
  const totalsOf = ledgerTotals(ownId, filter);
  const totals = useSteadyQuery<LedgerTotalsRow>(totalsOf.sql, totalsOf.params);
  const { rows: categories } = useQuery<CategoryRow>(categoriesByName);
  const otherAccounts = useMemo(
    () =>
      accounts.filter(
        (candidate) =>
          candidate.id !== account.id && (candidate.closed === 0 || candidate.id === edited?.entry.otherAccountId),
      ),
    [account.id, accounts, edited],
  );
  const found = totals.rows[0];
  // While the search result is loading, this is the whole account, because its rows are requested at the same time.
  const ownCount = own?.entryCount ?? accounts.reduce((sum, { entryCount: count }) => sum + count, 0);
  const entryCount = found?.entryCount ?? ownCount;
  const currencies = new Set(accounts.map(({ currency }) => currency));

  const edit = useCallback(
    (entry: LedgerRow) =>
      runTask(async () => {
        setEdited({ entry, parts: entry.partCount === 0 ? [] : await client.query<PartRow>(partsOfEntry, [entry.id]) });
        setNoted(null);
        setRecalled(null);
      }),
    [client, runTask],
  );
  const openNote = useCallback((entry: LedgerRow) => {
    setEdited(null);
    setRecalled(null);
    setNoted(entry);
  }, []);
  const openHistory = (entry: LedgerRow): void => {
    setEdited(null);
    setNoted(null);
    setRecalled(entry);
  };
  const chooseCategory = useCallback(
    (entry: LedgerRow, categoryId: string | null) => {
      run(() => setCategory(client, [entry.id], categoryId), 'Category changed.');
      const category = categories.find((candidate) => candidate.id === categoryId);
      setSamePayee(
        category === undefined || entry.payee === ''
          ? null
          : { payee: entry.payee, categoryId: category.id, categoryName: category.name },
      );
    },
    [categories, client, run],
  );
  const select = useCallback((entryId: string, selected: boolean | undefined) => {
    setSelection((last) => withEntry(last, entryId, selected));
  }, []);
  const selectRow = useCallback((entry: LedgerRow, isSelected: boolean) => select(entry.id, isSelected), [select]);
  const clear = useCallback(
    (entry: LedgerRow, cleared: boolean) => run(() => setCleared(client, [entry.id], cleared)),
    [client, run],
  );
  const selectAll = (): void => setSelection({ kind: 'all', accountId: ownId, filter, except: new Set() });

  // Closing a form removes the focused element, so the focus returns to the element that opened it.
  const leaveRow = (entry: LedgerRow): void => {
    flushSync(() => {
      setEdited(null);
      setNoted(null);
      setRecalled(null);
    });
    document.getElementById(entryButtonId(entry.id))?.focus();
  };
  const leaveNewEntry = (): void => {
    flushSync(() => setAdding(false));
    newEntryButton.current?.focus();
  };
  const narrow = (next: LedgerFilter): void => {
    setFilter(next);
    setSelection(nothingSelected);
  };
  useLedgerKeys({
    onNew: () => setAdding(mayWrite),
    onSearch: () => searchField.current?.focus(),
    onToggle: (entryId) => {
      if (mayWrite) select(entryId, undefined);
    },
    onNote: (entryId) => document.getElementById(noteButtonId(entryId))?.click(),
    onEscape: () => setSelection(nothingSelected),
    onHelp: () => setHelping(true),
  });

  return (
    <>
      <div className="ledger-tools" ref={tools}>
        <LedgerHead own={own} accounts={accounts}>
          <button type="button" ref={newEntryButton} className="primary" onClick={() => setAdding(true)}>
            New entry
          </button>
          {own !== null && (
            <>
              <button type="button" onClick={() => setReconciling(true)}>
                Reconcile
              </button>
              {view === 'today' && (
                <a className="button" href={hashOf(budget, { page: 'import', accountId: own.id })}>
                  Import
                </a>
              )}
            </>
          )}
        </LedgerHead>
        {/* A past state has no search index. */}
        {ownCount > 0 && !isPast(view) && (
          <FilterBar
            filter={filter}
            categories={categories}
            currency={account.currency}
            hasTotal={own !== null || currencies.size === 1}
            found={found}
            searchField={searchField}
            onFilter={narrow}
          />
        )}
      </div>
      {mayWrite && adding && (
        <div className="card form">
          {own === null && (
            <label className="account-choice">
              Account
              <select value={account.id} onChange={(event) => setNewAccountId(event.target.value)}>
                {openAccounts.map(({ id, name, currency }) => (
                  <option key={id} value={id}>
                    {name} ({currency})
                  </option>
                ))}
              </select>
            </label>
          )}
          <EntryForm
            key={account.id}
            account={account}
            otherAccounts={otherAccounts}
            categories={categories}
            suggest={(subject) => suggestFor(client, subject)}
            onSave={(result: FormResult) =>
              save(
                () => saveNew(client, account, result),
                result.kind === 'transfer' ? 'Transfer added.' : 'Entry added.',
                leaveNewEntry,
              )
            }
            onCancel={leaveNewEntry}
          />
        </div>
      )}
      {mayWrite && renaming && own !== null && <RenameForm account={own} onDone={() => setRenaming(false)} />}
      {mayWrite && reconciling && own !== null && <ReconcileBar account={own} onDone={() => setReconciling(false)} />}
      {mayWrite && samePayee !== null && <SamePayeeOffer {...samePayee} onDone={() => setSamePayee(null)} />}
      {entryCount > 0 && (
        <LedgerTable
          own={own}
          filter={filter}
          entryCount={entryCount}
          categories={categories}
          selection={selection}
          onEdit={edit}
          onCategory={chooseCategory}
          onSelect={selectRow}
          onCleared={clear}
          onNote={openNote}
          edited={edited?.entry ?? noted ?? recalled}
          editForm={
            noted !== null ? (
              <EntryNote
                key={noted.id}
                entryId={noted.id}
                name={`${entryName(noted)}, ${formatDay(noted.date)}`}
                onClose={() => leaveRow(noted)}
              />
            ) : recalled !== null ? (
              <Suspense>
                <EntryHistory
                  key={recalled.id}
                  budget={budget}
                  entryId={recalled.id}
                  name={`${entryName(recalled)}, ${formatDay(recalled.date)}`}
                  currency={recalled.currency}
                  onClose={() => leaveRow(recalled)}
                />
              </Suspense>
            ) : edited === null ? null : mayWrite ? (
              <EntryForm
                key={`${edited.entry.id} ${edited.entry.locked}`}
                entry={edited.entry}
                parts={edited.parts}
                account={account}
                otherAccounts={otherAccounts}
                categories={categories}
                onSave={(result) =>
                  save(
                    () => saveChanged(client, account, edited, result),
                    'Entry changed.',
                    () => leaveRow(edited.entry),
                  )
                }
                onCancel={() => leaveRow(edited.entry)}
                onDelete={() =>
                  save(
                    () => deleteEntries(client, [edited.entry.id]),
                    `${entryName(edited.entry)} was deleted.`,
                    () => setEdited(null),
                  )
                }
                onNote={() => openNote(edited.entry)}
                {...(view === 'today' ? { onHistory: () => openHistory(edited.entry) } : {})}
                onUnlock={() =>
                  run(async () => {
                    await unlock(client, edited.entry.id);
                    setEdited({ ...edited, entry: { ...edited.entry, locked: 0 } });
                  }, 'Unlocked.')
                }
              />
            ) : (
              <EntryDetails
                entry={edited.entry}
                parts={edited.parts}
                currency={account.currency}
                categories={categories}
                onClose={() => leaveRow(edited.entry)}
              />
            )
          }
        />
      )}
      {ownCount === 0 && !adding && (
        <p className="empty">{mayWrite ? 'No entries yet. Add one, or import a bank statement.' : 'No entries yet.'}</p>
      )}
      {mayWrite && selectedCount(selection, entryCount) > 0 && (
        <SelectionBar
          selection={selection}
          matchCount={entryCount}
          categories={categories}
          offBudget={own?.kind === 'off-budget'}
          otherAccounts={openAccounts.filter(
            ({ id, currency }) => id !== ownId && (own === null || currency === own.currency),
          )}
          onSelectAll={selectAll}
          onClear={() => setSelection(nothingSelected)}
        />
      )}
      <footer className="page-foot buttons">
        <button type="button" className="quiet" onClick={() => setHelping(true)}>
          Keyboard shortcuts
        </button>
        {mayWrite && view === 'today' && (
          <a className="quiet-link" href={hashOf(budget, { page: 'deleted' })}>
            Deleted entries
          </a>
        )}
        {mayWrite && own !== null && (
          <button
            type="button"
            className="quiet"
            onClick={() => {
              setRenaming(true);
              scrollTo({ top: 0 });
            }}
          >
            Rename or group this account
          </button>
        )}
        {mayWrite && own !== null && (
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
        )}
      </footer>
      {helping && <KeysHelp onClose={() => setHelping(false)} />}
    </>
  );
}

interface LedgerHeadProps {
  readonly own: AccountRow | null;
  readonly accounts: readonly AccountRow[];
  /** The account actions, shown to users who may write. */
  readonly children: ReactNode;
}

function LedgerHead({ own, accounts, children }: LedgerHeadProps): ReactNode {
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
