import { useClient } from '@rockpool/client/react';
import { useEffect, useState, type FormEvent, type ReactNode } from 'react';
import { restoreLimits, type RestoreLimitsRow } from '../queries/restore-limits.ts';
import { useSave } from '../shell/failure.tsx';
import { FormEnd } from '../shell/form-end.tsx';
import { keyOf } from '../shell/keys.ts';
import { useQuery } from '../shell/use-query.ts';
import type { Wording } from '../words/row-words.ts';
import { restoreEntry } from './actions.ts';
import type { EntryState } from './entry-state.ts';
import { restoreChoices, type RestoredField } from './restore-entry.ts';

export interface RestoreFormProps {
  readonly older: EntryState;
  readonly now: EntryState;
  readonly currency: string;
  readonly wording: Wording;
  readonly onDone: () => void;
}

/** Lists how an older state of an entry differs from the current one, and restores the values that the user chooses. */
export function RestoreForm({ older, now, currency, wording, onDone }: RestoreFormProps): ReactNode {
  const client = useClient();
  const save = useSave();
  const { rows } = useQuery<RestoreLimitsRow>(restoreLimits, [(now.entry?.['id'] ?? '') as string]);
  const [left, setLeft] = useState<ReadonlySet<RestoredField>>(new Set());
  const [problem, setProblem] = useState<string | null>(null);
  useEffect(() => setProblem(null), [left]);
  const [limits] = rows;
  if (limits === undefined) return null;
  const choices = restoreChoices(
    older,
    now,
    { isLocked: limits.isLocked === 1, isBetweenCurrencies: limits.isBetweenCurrencies === 1 },
    currency,
    wording,
  );
  const chosen = new Set(choices.map(({ field }) => field).filter((field) => !left.has(field)));
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (chosen.size === 0) return setProblem('Select at least one value.');
    save(() => restoreEntry(client, older, now, chosen), 'Restored.', onDone);
  };
  if (choices.length === 0)
    return (
      <div className="restore-form">
        <p>
          {limits.isLocked === 1
            ? 'Nothing here can be restored: the entry is reconciled, so its date and amount are locked.'
            : 'The entry has these values now.'}
        </p>
        <div className="buttons">
          <button type="button" onClick={onDone} autoFocus>
            Close
          </button>
        </div>
      </div>
    );
  return (
    <form
      className="restore-form"
      aria-label="Restore values"
      onSubmit={submit}
      onKeyDown={(event) => {
        if (keyOf(event) !== 'Escape') return;
        event.stopPropagation();
        onDone();
      }}
    >
      <fieldset>
        <legend>Restore these values</legend>
        {choices.map(({ field, label, older: value, now: current }, index) => (
          <label key={field} className="check">
            <input
              type="checkbox"
              checked={!left.has(field)}
              autoFocus={index === 0}
              onChange={({ target: { checked } }) =>
                setLeft((known) => new Set(checked ? [...known].filter((one) => one !== field) : [...known, field]))
              }
            />
            <span>
              {label}: <strong>{value}</strong> <span className="hint">now {current}</span>
            </span>
          </label>
        ))}
      </fieldset>
      <FormEnd problem={problem} submit="Restore" onCancel={onDone} />
    </form>
  );
}
