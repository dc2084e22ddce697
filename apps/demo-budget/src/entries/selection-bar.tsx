import { useClient } from '@rockpool/client/react';
import { useState, type FormEvent, type ReactNode } from 'react';
import type { AccountRow } from '../queries/accounts.ts';
import type { CategoryRow } from '../queries/categories.ts';
import { Amount } from '../shell/amount.tsx';
import { useWork } from '../shell/failure.tsx';
import { keyOf } from '../shell/keys.ts';
import { locale } from '../shell/locale.ts';
import { useQuery } from '../shell/use-query.ts';
import { accountOf, categoryOf, clearedOf, deletionOf, payeeOf } from './actions.ts';
import { changeMany, type ChangeOfEntries } from './change-many.ts';
import { PayeeList } from './payee-list.tsx';
import { selectedCount, selectedIds, selectedTotals, type SelectedTotalsRow, type Selection } from './selection.ts';

export interface SelectionBarProps {
  readonly selection: Selection;
  /** The number of entries that match the ledger's filter. */
  readonly matchCount: number;
  readonly categories: readonly CategoryRow[];
  readonly offBudget: boolean;
  /** Accounts that the selection may be moved to. */
  readonly otherAccounts: readonly AccountRow[];
  readonly onSelectAll: () => void;
  readonly onClear: () => void;
}

/** Actions on several entries at once, with their total. Each action is one transaction, so one undo reverts it. */
export function SelectionBar({
  selection,
  matchCount,
  categories,
  offBudget,
  otherAccounts,
  onSelectAll,
  onClear,
}: SelectionBarProps): ReactNode {
  const client = useClient();
  const work = useWork();
  const [payee, setPayeeText] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  const { sql, params } = selectedTotals(selection);
  const totals = useQuery<SelectedTotalsRow>(sql, params);
  const count = totals.loading
    ? selectedCount(selection, matchCount)
    : totals.rows.reduce((sum, row) => sum + row.entryCount, 0);
  /** `leave` runs only after success: a failed or stopped change keeps the selection and everything typed. */
  const change = async (
    label: string,
    statement: ChangeOfEntries,
    words: (changed: number) => string,
    leave?: () => void,
  ): Promise<void> => {
    if (busy) return;
    setBusy(true);
    const succeeded = await work(
      label,
      (longWork) => changeMany(client, selectedIds(selection), statement, longWork),
      words,
    );
    setBusy(false);
    if (succeeded) leave?.();
  };
  const changed = (changedCount: number): string =>
    changedCount === 0 ? 'Nothing to change.' : `${entriesWord(changedCount)} changed.`;
  const rename = (event: FormEvent): void => {
    event.preventDefault();
    const name = payee?.trim() ?? '';
    if (name !== '')
      void change(
        'Changing the payee',
        (ids) => payeeOf(ids, name),
        changed,
        () => setPayeeText(null),
      );
  };
  return (
    <div className="selection" role="toolbar" aria-label="Selected entries" aria-busy={busy}>
      <p className="selection-what">
        <strong aria-live="polite">{count.toLocaleString(locale)} selected</strong>
        {!totals.loading &&
          totals.rows.map(({ currency, totalMinor }) => (
            <span key={currency} className="selection-total">
              <Amount minor={totalMinor} currency={currency} />
            </span>
          ))}
      </p>
      {count < matchCount && (
        <button type="button" className="quiet" onClick={onSelectAll} disabled={busy}>
          Select all {matchCount.toLocaleString(locale)}
        </button>
      )}
      {!offBudget && (
        <select
          aria-label="Category of the selected entries"
          value=""
          disabled={busy}
          onChange={({ target: { value } }) =>
            void change(
              'Changing the category',
              (ids) => categoryOf(ids, value === 'none' ? null : value),
              (changedCount) =>
                changedCount === 0
                  ? 'Nothing to change: splits and transfers keep their categories.'
                  : changed(changedCount),
            )
          }
        >
          <option value="">Category…</option>
          <option value="none">No category</option>
          {categories
            .filter((category) => category.hidden === 0)
            .map((category) => (
              <option key={category.id} value={category.id}>
                {category.name}
              </option>
            ))}
        </select>
      )}
      {payee === null ? (
        <button type="button" onClick={() => setPayeeText('')} disabled={busy}>
          Payee…
        </button>
      ) : (
        <form
          onSubmit={rename}
          onKeyDown={(event) => {
            if (keyOf(event) === 'Escape') setPayeeText(null);
          }}
          className="selection-payee"
        >
          <input
            aria-label="Payee of the selected entries"
            value={payee}
            onChange={(event) => setPayeeText(event.target.value)}
            list="selection-payees"
            autoFocus
            autoComplete="off"
          />
          <PayeeList id="selection-payees" />
          <button type="submit" disabled={busy}>
            Set
          </button>
        </form>
      )}
      <select
        aria-label="Status of the selected entries"
        value=""
        disabled={busy}
        onChange={({ target: { value } }) =>
          void change('Changing the status', (ids) => clearedOf(ids, value === 'cleared'), changed)
        }
      >
        <option value="">Status…</option>
        <option value="cleared">Cleared</option>
        <option value="open">Not cleared</option>
      </select>
      {otherAccounts.length > 0 && (
        <select
          aria-label="Account of the selected entries"
          value=""
          disabled={busy}
          onChange={({ target: { value } }) =>
            void change(
              'Moving entries',
              (ids) => accountOf(ids, value),
              (movedCount) =>
                movedCount === 0
                  ? 'Transfers and reconciled entries cannot be moved.'
                  : `${entriesWord(movedCount)} moved.`,
              onClear,
            )
          }
        >
          <option value="">Move to…</option>
          {otherAccounts.map((account) => (
            <option key={account.id} value={account.id}>
              {account.name}
            </option>
          ))}
        </select>
      )}
      <button
        type="button"
        className="danger"
        disabled={busy}
        onClick={() =>
          void change(
            'Deleting entries',
            deletionOf,
            (deletedCount) =>
              deletedCount === 0
                ? 'Reconciled entries are locked; nothing was deleted.'
                : `${entriesWord(deletedCount)} deleted.`,
            onClear,
          )
        }
      >
        Delete
      </button>
      <button type="button" className="quiet" onClick={onClear} disabled={busy}>
        Done
      </button>
    </div>
  );
}

function entriesWord(count: number): string {
  return count === 1 ? '1 entry' : `${count.toLocaleString(locale)} entries`;
}
