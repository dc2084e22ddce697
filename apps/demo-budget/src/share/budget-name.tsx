import { useClient } from '@rockpool/client/react';
import { useEffect, useState, type FormEvent, type ReactNode } from 'react';
import { useMayWrite } from '../budget/role.ts';
import { setSetting } from '../settings/actions.ts';
import { useSettings } from '../settings/use-settings.ts';
import { useSave } from '../shell/failure.tsx';

/** The name of the budget, which all members see and editors change. */
export function BudgetName(): ReactNode {
  const client = useClient();
  const save = useSave();
  const mayWrite = useMayWrite();
  const { name } = useSettings();
  const [typed, setTyped] = useState(name);
  useEffect(() => setTyped(name), [name]);
  if (!mayWrite) return null;
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    save(
      () => setSetting(client, 'name', typed.trim()),
      'Budget renamed.',
      () => undefined,
    );
  };
  return (
    <form className="card form budget-name" onSubmit={submit} aria-label="Name of the budget">
      <label>
        Name of this budget
        <input
          value={typed}
          maxLength={40}
          placeholder="Household"
          autoComplete="off"
          onChange={(event) => setTyped(event.target.value)}
        />
      </label>
      <button type="submit" disabled={typed.trim() === name}>
        Rename budget
      </button>
    </form>
  );
}
