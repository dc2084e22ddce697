import { useClient } from '@rockpool/client/react';
import { useState, type FormEvent, type ReactNode } from 'react';
import { groupsOfAccounts, type AccountRow } from '../queries/accounts.ts';
import { keyOf } from '../shell/keys.ts';
import { useSave } from '../shell/failure.tsx';
import { FormEnd } from '../shell/form-end.tsx';
import { useQuery } from '../shell/use-query.ts';
import { knownName } from '../words/name-key.ts';
import { renameAccount } from './actions.ts';

/** Form for the name and the group of an account. */
export function RenameForm({
  account,
  onDone,
}: {
  readonly account: AccountRow;
  readonly onDone: () => void;
}): ReactNode {
  const client = useClient();
  const save = useSave();
  const [before] = useState(account);
  const [name, setName] = useState(account.name);
  const [groupName, setGroupName] = useState(account.groupName);
  const { rows: groups } = useQuery<{ readonly groupName: string }>(groupsOfAccounts);
  const [problem, setProblem] = useState<string | null>(null);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (name.trim() === '') return setProblem('Enter a name for the account.');
    const others = groups.map((row) => row.groupName).filter((known) => known !== before.groupName);
    const after = { name: name.trim(), groupName: knownName(others, groupName) };
    save(() => renameAccount(client, account.id, before, after), 'Account changed.', onDone);
  };
  return (
    <form
      className="card form"
      onSubmit={submit}
      onKeyDown={(event) => {
        if (keyOf(event) === 'Escape') onDone();
      }}
      aria-label="Rename the account"
    >
      <label>
        Name
        <input value={name} onChange={(event) => setName(event.target.value)} autoFocus autoComplete="off" />
      </label>
      <label>
        Group
        <input
          value={groupName}
          list="account-groups"
          placeholder="None"
          onChange={(event) => setGroupName(event.target.value)}
          autoComplete="off"
        />
        <datalist id="account-groups">
          {groups.map((row) => (
            <option key={row.groupName} value={row.groupName} />
          ))}
        </datalist>
      </label>
      <FormEnd problem={problem} submit="Save" onCancel={onDone} />
    </form>
  );
}
