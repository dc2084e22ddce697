import { useClient } from '@rockpool/client/react';
import { useCallback, useRef, useState, type ReactNode } from 'react';
import { flushSync } from 'react-dom';
import { RenameForm } from '../accounts/rename-form.tsx';
import type { Budget } from '../budget/budget.ts';
import { useMayWrite } from '../budget/role.ts';
import type { AccountRow } from '../queries/accounts.ts';
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
import { ReconcileBar } from '../reconcile/reconcile-bar.tsx';
import { useTask } from '../shell/failure.tsx';
import { KeysHelp } from '../shell/keys-help.tsx';
import { useQuery, useSteadyQuery } from '../shell/use-query.ts';
import { alwaysLeft } from './entry-form.tsx';
import { entryButtonId, noteButtonId } from './entry-row.tsx';
import { LedgerFoot } from './ledger-foot.tsx';
import { LedgerTable } from './ledger-table.tsx';
import { LedgerTools } from './ledger-tools.tsx';
import { NewEntryCard } from './new-entry-card.tsx';
import { OpenedEntry, type Opened } from './opened-entry.tsx';
import { SamePayeeOffer } from './same-payee-offer.tsx';
import { nothingSelected, selectedCount, withEntry, type Selection } from './selection.ts';
import { SelectionBar } from './selection-bar.tsx';
import { useLedgerKeys } from './use-ledger-keys.ts';
import { useRowActions } from './use-row-actions.ts';

export interface LedgerProps {
  readonly budget: Budget;
  /** The account of the ledger; null for all accounts. */
  readonly own: AccountRow | null;
  readonly accounts: readonly AccountRow[];
}

/** A form above the table. Several may be open. */
type Form = 'new' | 'rename' | 'reconcile';

/** A ledger with its tools, forms, table and selection. */
export function Ledger({ budget, own, accounts }: LedgerProps): ReactNode {
  const client = useClient();
  const runTask = useTask();
  const mayWrite = useMayWrite();
  const [filter, setFilter] = useState<LedgerFilter>(wholeLedger);
  const [forms, setForms] = useState<ReadonlySet<Form>>(new Set());
  const [opened, setOpened] = useState<Opened | null>(null);
  const [selection, setSelection] = useState<Selection>(nothingSelected);
  const [helping, setHelping] = useState(false);
  const newEntryButton = useRef<HTMLButtonElement>(null);
  const searchField = useRef<HTMLInputElement>(null);
  const { account, newAccount, openAccounts, setNewAccountId } = useAccountsOfLedger(own, accounts, opened);
  const { rows: categories } = useQuery<CategoryRow>(categoriesByName);
  const { samePayee, onOfferDone, ...rowActions } = useRowActions(categories);
  const ownId = own?.id ?? null;
  const totalsOf = ledgerTotals(ownId, filter);
  const found = useSteadyQuery<LedgerTotalsRow>(totalsOf.sql, totalsOf.params).rows[0];
  // Until the first totals arrive, the number of all entries takes their place, so that the table requests its rows
  // without waiting for the totals.
  const ownCount = own?.entryCount ?? accounts.reduce((sum, { entryCount: count }) => sum + count, 0);
  const entryCount = found?.entryCount ?? ownCount;

  const open = (form: Form): void => setForms((last) => new Set([...last, form]));
  const close = (form: Form): void => setForms((last) => new Set([...last].filter((other) => other !== form)));
  const mayLeave = useRef(alwaysLeft);
  const edit = useCallback(
    (entry: LedgerRow) => {
      if (!mayLeave.current()) return;
      runTask(async () => {
        const parts = entry.partCount === 0 ? [] : await client.query<PartRow>(partsOfEntry, [entry.id]);
        setOpened({ kind: 'form', entry, parts });
      });
    },
    [client, runTask],
  );
  const openNote = useCallback((entry: LedgerRow) => {
    if (mayLeave.current()) setOpened({ kind: 'note', entry });
  }, []);
  const select = useCallback((entryId: string, selected: boolean | undefined) => {
    setSelection((last) => withEntry(last, entryId, selected));
  }, []);
  const selectRow = useCallback((entry: LedgerRow, isSelected: boolean) => select(entry.id, isSelected), [select]);
  // Closing a form removes the focused element, so the focus returns to the element that opened it.
  const leaveRow = (entry: LedgerRow): void => {
    flushSync(() => setOpened(null));
    document.getElementById(entryButtonId(entry.id))?.focus();
  };
  const leaveNewEntry = (): void => {
    flushSync(() => close('new'));
    newEntryButton.current?.focus();
  };
  const narrow = (next: LedgerFilter): void => {
    setFilter(next);
    setSelection(nothingSelected);
  };
  useLedgerKeys({
    onNew: () => open('new'),
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
      <LedgerTools
        budget={budget}
        own={own}
        accounts={accounts}
        hasEntries={ownCount > 0}
        filter={filter}
        categories={categories}
        currency={account.currency}
        hasTotal={own !== null || new Set(accounts.map(({ currency }) => currency)).size === 1}
        found={found}
        searchField={searchField}
        newEntryButton={newEntryButton}
        onFilter={narrow}
        onNew={() => open('new')}
        onReconcile={() => open('reconcile')}
      />
      {mayWrite && forms.has('new') && (
        <NewEntryCard
          account={newAccount}
          choices={own === null ? openAccounts : null}
          otherAccounts={openAccounts.filter(({ id }) => id !== newAccount.id)}
          categories={categories}
          onAccount={setNewAccountId}
          onLeave={leaveNewEntry}
        />
      )}
      {mayWrite && forms.has('rename') && own !== null && <RenameForm account={own} onDone={() => close('rename')} />}
      {mayWrite && forms.has('reconcile') && own !== null && (
        <ReconcileBar account={own} onDone={() => close('reconcile')} />
      )}
      {mayWrite && samePayee !== null && <SamePayeeOffer {...samePayee} onDone={onOfferDone} />}
      {/* The form stays, with what was typed, if another device deletes the last entry. */}
      {(entryCount > 0 || opened !== null) && (
        <LedgerTable
          own={own}
          filter={filter}
          entryCount={entryCount}
          categories={categories}
          selection={selection}
          onEdit={edit}
          onSelect={selectRow}
          onNote={openNote}
          {...rowActions}
          edited={opened?.entry ?? null}
          editForm={
            opened !== null && (
              <OpenedEntry
                opened={opened}
                budget={budget}
                account={account}
                otherAccounts={accounts.filter(
                  ({ id, closed }) => id !== account.id && (closed === 0 || id === opened.entry.otherAccountId),
                )}
                categories={categories}
                onOpen={setOpened}
                mayLeave={mayLeave}
                onLeave={() => leaveRow(opened.entry)}
                onDeleted={() => setOpened(null)}
              />
            )
          }
        />
      )}
      {ownCount === 0 && !forms.has('new') && (
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
          onSelectAll={() => setSelection({ kind: 'all', accountId: ownId, filter, except: new Set() })}
          onClear={() => setSelection(nothingSelected)}
        />
      )}
      <LedgerFoot
        budget={budget}
        own={own}
        onHelp={() => setHelping(true)}
        onRename={() => {
          open('rename');
          scrollTo({ top: 0 });
        }}
      />
      {helping && <KeysHelp onClose={() => setHelping(false)} />}
    </>
  );
}

interface AccountsOfLedger {
  /** The account of the open entry, or otherwise of a new one. */
  readonly account: AccountRow;
  readonly newAccount: AccountRow;
  readonly openAccounts: readonly AccountRow[];
  readonly setNewAccountId: (accountId: string) => void;
}

function useAccountsOfLedger(
  own: AccountRow | null,
  accounts: readonly AccountRow[],
  opened: Opened | null,
): AccountsOfLedger {
  const [newAccountId, setNewAccountId] = useState<string | null>(null);
  const openAccounts = accounts.filter(({ closed }) => closed === 0);
  const newAccount =
    own ?? openAccounts.find(({ id }) => id === newAccountId) ?? openAccounts[0] ?? (accounts[0] as AccountRow);
  const account = own ?? accounts.find(({ id }) => id === opened?.entry.accountId) ?? newAccount;
  return { account, newAccount, openAccounts, setNewAccountId };
}
