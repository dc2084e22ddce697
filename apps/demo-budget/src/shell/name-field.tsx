import { useState, type ReactNode } from 'react';
import { useMayWrite } from '../budget/role.ts';
import { keyOf } from './keys.ts';

export interface NameFieldProps {
  readonly name: string;
  readonly onRename: (name: string) => void;
}

/** A name as its own field that saves on blur or Enter. For viewers, plain text. */
export function NameField({ name, onRename }: NameFieldProps): ReactNode {
  // Null while nothing is typed: the field then shows the current name.
  const [typed, setTyped] = useState<string | null>(null);
  const [hasFocus, setFocus] = useState(false);
  const [known, setKnown] = useState(name);
  if (known !== name) {
    setKnown(name);
    // A name by another device must not replace what this user is typing.
    if (!hasFocus) setTyped(null);
  }
  if (!useMayWrite()) return <span className="name">{name}</span>;
  const save = (): void => {
    setFocus(false);
    const trimmed = typed?.trim() ?? '';
    if (trimmed === '' || trimmed === name) setTyped(null);
    else onRename(trimmed);
  };
  return (
    <input
      className="plain"
      aria-label={`Name of ${name}`}
      value={typed ?? name}
      onChange={(event) => setTyped(event.target.value)}
      onFocus={() => setFocus(true)}
      onBlur={save}
      onKeyDown={(event) => {
        if (keyOf(event) === 'Enter') event.currentTarget.blur();
        if (keyOf(event) === 'Escape') setTyped(null);
      }}
    />
  );
}
