import { useClient } from '@rockpool/client/react';
import type { ReactNode } from 'react';
import type { AccountRow } from '../queries/accounts.ts';
import type { CategoryRow } from '../queries/categories.ts';
import { suggestFor } from '../rules/suggest.ts';
import { useSave } from '../shell/failure.tsx';
import { EntryForm } from './entry-form.tsx';
import { saveNew } from './save.ts';

export interface NewEntryCardProps {
  readonly account: AccountRow;
  /** The accounts to choose from; null if the ledger is that of one account. */
  readonly choices: readonly AccountRow[] | null;
  /** Accounts to transfer to. */
  readonly otherAccounts: readonly AccountRow[];
  readonly categories: readonly CategoryRow[];
  readonly onAccount: (accountId: string) => void;
  readonly onLeave: () => void;
}

/** The form of a new entry. In the ledger of all accounts, the user chooses its account. */
export function NewEntryCard(props: NewEntryCardProps): ReactNode {
  const { account, choices, otherAccounts, categories, onAccount, onLeave } = props;
  const client = useClient();
  const save = useSave();
  return (
    <div className="card form">
      {choices !== null && (
        <label className="account-choice">
          Account
          <select value={account.id} onChange={(event) => onAccount(event.target.value)}>
            {choices.map(({ id, name, currency }) => (
              <option key={id} value={id}>
                {name} ({currency})
              </option>
            ))}
          </select>
        </label>
      )}
      <EntryForm
        account={account}
        otherAccounts={otherAccounts}
        categories={categories}
        suggest={(subject) => suggestFor(client, subject)}
        onSave={(result) =>
          save(
            () => saveNew(client, account, result),
            result.kind === 'transfer' ? 'Transfer added.' : 'Entry added.',
            onLeave,
          )
        }
        onCancel={onLeave}
      />
    </div>
  );
}
