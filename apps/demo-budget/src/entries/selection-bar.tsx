import { useClient } from '@rockpool/client/react';
import { useState, type FormEvent, type ReactNode } from 'react';
import type { AccountRow } from '../queries/accounts.ts';
import type { CategoryRow } from '../queries/categories.ts';
import { useAction, useSave } from '../shell/failure.tsx';
import { locale } from '../shell/locale.ts';
import { deleteEntries, setAccount, setCategory, setCleared, setPayee } from './actions.ts';
import { PayeeList } from './payee-list.tsx';

export interface SelectionBarProps {
  readonly ids: readonly string[];
  readonly foundCount: number;
  readonly categories: readonly CategoryRow[];
  readonly offBudget: boolean;
  /** Accounts that the selection may be moved to. */
  readonly otherAccounts: readonly AccountRow[];
  readonly onSelectAll: () => void;
  readonly onClear: () => void;
}

/** Actions on several entries at once. Each is one transaction, so one undo reverts it. */
export function SelectionBar({
  ids,
  foundCount,
  categories,
  offBudget,
  otherAccounts,
  onSelectAll,
  onClear,
}: SelectionBarProps): ReactNode {
  const client = useClient();
  const run = useAction();
  const save = useSave();
  const [payee, setPayeeText] = useState<string | null>(null);
  const changed = (count: number): string => (count === 0 ? '' : `${entriesWord(count)} changed.`);
  const rename = (event: FormEvent): void => {
    event.preventDefault();
    if (payee === null || payee.trim() === '') return;
    save(
      () => setPayee(client, ids, payee.trim()),
      changed,
      () => setPayeeText(null),
    );
  };
  return (
    <div className="selection" role="toolbar" aria-label="Selected entries">
      <strong aria-live="polite">{ids.length.toLocaleString(locale)} selected</strong>
      {ids.length < foundCount && (
        <button type="button" className="quiet" onClick={onSelectAll}>
          Select all {foundCount.toLocaleString(locale)}
        </button>
      )}
      {!offBudget && (
        <select
          aria-label="Category of the selected entries"
          value=""
          onChange={(event) =>
            run(() => setCategory(client, ids, event.target.value === 'none' ? null : event.target.value), changed)
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
        <button type="button" onClick={() => setPayeeText('')}>
          Payee…
        </button>
      ) : (
        <form onSubmit={rename} className="selection-payee">
          <input
            aria-label="Payee of the selected entries"
            value={payee}
            onChange={(event) => setPayeeText(event.target.value)}
            list="selection-payees"
            autoFocus
            autoComplete="off"
          />
          <PayeeList id="selection-payees" />
          <button type="submit">Set</button>
        </form>
      )}
      <select
        aria-label="Status of the selected entries"
        value=""
        onChange={(event) => run(() => setCleared(client, ids, event.target.value === 'cleared'), changed)}
      >
        <option value="">Status…</option>
        <option value="cleared">Cleared</option>
        <option value="open">Not cleared</option>
      </select>
      {otherAccounts.length > 0 && (
        <select
          aria-label="Account of the selected entries"
          value=""
          onChange={(event) =>
            save(
              () => setAccount(client, ids, event.target.value),
              (count) =>
                count === 0 ? 'Transfers and reconciled entries cannot be moved.' : `${entriesWord(count)} moved.`,
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
        onClick={() => {
          save(
            () => deleteEntries(client, ids),
            (count) =>
              count === 0 ? 'Reconciled entries are locked; nothing was deleted.' : `${entriesWord(count)} deleted.`,
            onClear,
          );
        }}
      >
        Delete
      </button>
      <button type="button" className="quiet" onClick={onClear}>
        Done
      </button>
    </div>
  );
}

function entriesWord(count: number): string {
  return count === 1 ? '1 entry' : `${count.toLocaleString(locale)} entries`;
}
