import { useState, type ReactNode } from 'react';

export interface EnvelopeNoteProps {
  readonly name: string;
  readonly note: string;
  readonly onNote: (note: string) => void;
}

/** The memo of an envelope. Saves on blur. */
export function EnvelopeNote({ name, note, onNote }: EnvelopeNoteProps): ReactNode {
  const [typed, setTyped] = useState(note);
  return (
    <label className="envelope-note">
      Note on {name}
      <textarea
        rows={1}
        value={typed}
        onChange={(event) => setTyped(event.target.value)}
        onBlur={() => {
          if (typed.trim() !== note) onNote(typed.trim());
        }}
      />
    </label>
  );
}
