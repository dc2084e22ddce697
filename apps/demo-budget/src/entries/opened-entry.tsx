import { useClient } from '@rockpool/client/react';
import { lazy, Suspense, type ReactNode, type RefObject } from 'react';
import type { Budget } from '../budget/budget.ts';
import { useMayWrite } from '../budget/role.ts';
import { useView } from '../budget/view.ts';
import { EntryNote } from '../notes/entry-note.tsx';
import type { AccountRow } from '../queries/accounts.ts';
import type { CategoryRow } from '../queries/categories.ts';
import type { LedgerRow, PartRow } from '../queries/ledger.ts';
import { useAction, useSave } from '../shell/failure.tsx';
import { formatDay } from '../shell/locale.ts';
import { deleteEntries, unlock } from './actions.ts';
import { EntryDetails } from './entry-details.tsx';
import { EntryForm } from './entry-form.tsx';
import { entryName } from './entry-row.tsx';
import { saveChanged } from './save.ts';

const EntryHistory = lazy(() => import('../history/entry-history.tsx'));

/** The view that replaces an entry's row. It keeps the entry as it was when the view opened. */
export type Opened =
  | { readonly kind: 'form'; readonly entry: LedgerRow; readonly parts: readonly PartRow[] }
  | { readonly kind: 'note'; readonly entry: LedgerRow }
  | { readonly kind: 'history'; readonly entry: LedgerRow };

export interface OpenedEntryProps {
  readonly opened: Opened;
  readonly budget: Budget;
  readonly account: AccountRow;
  /** Accounts to transfer to. */
  readonly otherAccounts: readonly AccountRow[];
  readonly categories: readonly CategoryRow[];
  readonly onOpen: (opened: Opened) => void;
  /** See `EntryForm`. */
  readonly mayLeave: RefObject<() => boolean>;
  /** Closes it and returns the focus to the entry's row. */
  readonly onLeave: () => void;
  /** Called once the entry was deleted. */
  readonly onDeleted: () => void;
}

/** The form, details, note or history of an entry. */
export function OpenedEntry(props: OpenedEntryProps): ReactNode {
  const { opened, budget, account, categories, onLeave } = props;
  const mayWrite = useMayWrite();
  const { entry } = opened;
  const name = `${entryName(entry)}, ${formatDay(entry.date)}`;
  if (opened.kind === 'note') return <EntryNote key={entry.id} entryId={entry.id} name={name} onClose={onLeave} />;
  if (opened.kind === 'history')
    return (
      <Suspense>
        <EntryHistory
          key={entry.id}
          budget={budget}
          entryId={entry.id}
          name={name}
          currency={entry.currency}
          onClose={onLeave}
        />
      </Suspense>
    );
  if (!mayWrite)
    return (
      <EntryDetails
        entry={entry}
        parts={opened.parts}
        currency={account.currency}
        categories={categories}
        onClose={onLeave}
      />
    );
  return <EditForm key={entry.id} {...props} opened={opened} />;
}

interface EditFormProps extends OpenedEntryProps {
  readonly opened: Extract<Opened, { readonly kind: 'form' }>;
}

function EditForm({
  opened,
  account,
  otherAccounts,
  categories,
  onOpen,
  mayLeave,
  onLeave,
  onDeleted,
}: EditFormProps): ReactNode {
  const client = useClient();
  const run = useAction();
  const save = useSave();
  const view = useView();
  const { entry } = opened;
  return (
    <EntryForm
      entry={entry}
      parts={opened.parts}
      account={account}
      otherAccounts={otherAccounts}
      categories={categories}
      mayLeave={mayLeave}
      onSave={(result) => save(() => saveChanged(client, account, opened, result), 'Entry changed.', onLeave)}
      onCancel={onLeave}
      onDelete={() => save(() => deleteEntries(client, [entry.id]), `${entryName(entry)} was deleted.`, onDeleted)}
      onNote={() => onOpen({ kind: 'note', entry })}
      {...(view === 'today' ? { onHistory: () => onOpen({ kind: 'history', entry }) } : {})}
      onUnlock={() =>
        run(async () => {
          await unlock(client, entry.id);
          onOpen({ ...opened, entry: { ...entry, locked: 0 } });
        }, 'Unlocked.')
      }
    />
  );
}
