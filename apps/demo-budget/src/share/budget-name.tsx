import { useClient } from '@rockpool/client/react';
import { useState, type FormEvent, type ReactNode } from 'react';
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
  // Null while nothing is typed: the field then shows a name by another person at once, and never overwrites it.
  const [typed, setTyped] = useState<string | null>(null);
  if (!mayWrite) return null;
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (typed === null) return;
    save(
      () => setSetting(client, 'name', typed.trim()),
      'Budget renamed.',
      () => setTyped((last) => (last === typed ? null : last)),
    );
  };
  return (
    <form className="card form budget-name" onSubmit={submit} aria-label="Name of the budget">
      <label>
        Name of this budget
        <input
          value={typed ?? name}
          maxLength={40}
          placeholder="Household"
          autoComplete="off"
          onChange={(event) => setTyped(event.target.value)}
        />
      </label>
      <button type="submit" disabled={(typed ?? name).trim() === name}>
        Rename budget
      </button>
    </form>
  );
}
