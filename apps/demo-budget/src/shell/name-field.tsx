import { useState, type ReactNode } from 'react';
import { useMayWrite } from '../budget/role.ts';
import { keyOf } from './keys.ts';

export interface NameFieldProps {
  readonly name: string;
  readonly onRename: (name: string) => void;
}

/** A name as its own field that saves on blur or Enter. For viewers, plain text. */
export function NameField({ name, onRename }: NameFieldProps): ReactNode {
  const [typed, setTyped] = useState(name);
  if (!useMayWrite()) return <span className="name">{name}</span>;
  const save = (): void => {
    const trimmed = typed.trim();
    if (trimmed === '') setTyped(name);
    else if (trimmed !== name) onRename(trimmed);
  };
  return (
    <input
      className="plain"
      aria-label={`Name of ${name}`}
      value={typed}
      onChange={(event) => setTyped(event.target.value)}
      onBlur={save}
      onKeyDown={(event) => {
        if (keyOf(event) === 'Enter') event.currentTarget.blur();
        if (keyOf(event) === 'Escape') setTyped(name);
      }}
    />
  );
}
