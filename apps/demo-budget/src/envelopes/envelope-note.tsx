import { useState, type ReactNode } from 'react';

export interface EnvelopeNoteProps {
  readonly name: string;
  readonly note: string;
  /** Saves a note, and calls `leave` once it is stored. */
  readonly onNote: (note: string, leave: () => void) => void;
}

/** The memo of an envelope. Saves on blur what was typed. */
export function EnvelopeNote({ name, note, onNote }: EnvelopeNoteProps): ReactNode {
  // Null while nothing is typed: the field then shows a note by another person at once and never overwrites it.
  const [typed, setTyped] = useState<string | null>(null);
  const save = (): void => {
    if (typed === null) return;
    if (typed.trim() === note) setTyped(null);
    else onNote(typed.trim(), () => setTyped((last) => (last === typed ? null : last)));
  };
  return (
    <label className="envelope-note">
      Note on {name}
      <textarea rows={1} value={typed ?? note} onChange={(event) => setTyped(event.target.value)} onBlur={save} />
    </label>
  );
}
