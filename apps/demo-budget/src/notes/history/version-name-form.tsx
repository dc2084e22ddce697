import type { DocumentHistory, DocumentVersion } from '@rockpool/client';
import { useEffect, useState, type FormEvent, type ReactNode } from 'react';
import { useSave } from '../../shell/failure.tsx';
import { FormEnd } from '../../shell/form-end.tsx';
import { keyOf } from '../../shell/keys.ts';
import type { NoteContent } from '../actions.ts';

export interface VersionNameFormProps {
  readonly history: DocumentHistory<NoteContent>;
  readonly version: DocumentVersion;
  /** The name to change; null gives the version a name. */
  readonly name: string | null;
  /** What the user typed, kept while the form moves in the list. */
  readonly typed: { current: string };
  readonly onDone: () => void;
}

/** The maximum number of characters in a name. */
const maxLength = 100;

/** Gives a version of a note a name, changes it, or removes it. */
export function VersionNameForm({ history, version, name, typed, onDone }: VersionNameFormProps): ReactNode {
  const save = useSave();
  const [text, setText] = useState(typed.current);
  const [problem, setProblem] = useState<string | null>(null);
  useEffect(() => setProblem(null), [text]);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    const given = text.trim();
    const { length } = Array.from(given);
    if (length === 0) return setProblem('Enter a name.');
    if (length > maxLength) return setProblem(`A name has at most ${maxLength} characters.`);
    if (given === name) return onDone();
    if (name === null) save(() => history.name(version, given), `Named “${given}”.`, onDone);
    else save(() => history.rename(name, given), `Renamed to “${given}”.`, onDone);
  };
  return (
    <form
      className="version-name-form"
      aria-label={name === null ? 'Name this version' : `Rename “${name}”`}
      onSubmit={submit}
      onKeyDown={(event) => {
        if (keyOf(event) !== 'Escape') return;
        event.stopPropagation();
        onDone();
      }}
    >
      <label>
        Name of this version
        <input
          value={text}
          placeholder="Before the move"
          autoFocus
          onFocus={(event) => text === name && event.target.select()}
          onChange={(event) => {
            typed.current = event.target.value;
            setText(event.target.value);
          }}
        />
      </label>
      <FormEnd problem={problem} submit="Save" onCancel={onDone}>
        {name !== null && (
          <button
            type="button"
            className="danger"
            onClick={() => save(() => history.unname(name), `Removed the name “${name}”.`, onDone)}
          >
            Remove name
          </button>
        )}
      </FormEnd>
    </form>
  );
}
