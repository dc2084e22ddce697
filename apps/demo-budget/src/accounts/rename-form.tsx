import { useClient } from '@rockpool/client/react';
import { useState, type FormEvent, type ReactNode } from 'react';
import type { AccountRow } from '../queries/accounts.ts';
import { useSave } from '../shell/failure.tsx';
import { FormEnd } from '../shell/form-end.tsx';
import { renameAccount } from './actions.ts';

/** Form that renames an account. */
export function RenameForm({
  account,
  onDone,
}: {
  readonly account: AccountRow;
  readonly onDone: () => void;
}): ReactNode {
  const client = useClient();
  const save = useSave();
  const [name, setName] = useState(account.name);
  const [problem, setProblem] = useState<string | null>(null);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (name.trim() === '') return setProblem('Enter a name for the account.');
    save(() => renameAccount(client, account.id, name.trim()), 'Account renamed.', onDone);
  };
  return (
    <form
      className="card form"
      onSubmit={submit}
      onKeyDown={(event) => {
        if (event.key === 'Escape') onDone();
      }}
      aria-label="Rename the account"
    >
      <label>
        Name
        <input value={name} onChange={(event) => setName(event.target.value)} autoFocus autoComplete="off" />
      </label>
      <FormEnd problem={problem} submit="Rename" onCancel={onDone} />
    </form>
  );
}
