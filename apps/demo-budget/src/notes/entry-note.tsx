import { useClient } from '@rockpool/client/react';
import { useEffect, type ReactNode } from 'react';
import { useMayWrite } from '../budget/role.ts';
import { noteBegun } from '../queries/notes.ts';
import { useAction } from '../shell/failure.tsx';
import { keyOf } from '../shell/keys.ts';
import { useQuery } from '../shell/use-query.ts';
import { beginNote, entryNoteId } from './actions.ts';
import { NoteEditor } from './note-editor.tsx';

export interface EntryNoteProps {
  readonly entryId: string;
  /** The entry's label and day. */
  readonly name: string;
  readonly onClose: () => void;
}

/** The shared note of one entry. For users who may write, opening it creates the note. */
export function EntryNote({ entryId, name, onClose }: EntryNoteProps): ReactNode {
  const client = useClient();
  const run = useAction();
  const mayWrite = useMayWrite();
  const noteId = entryNoteId(entryId);
  const { rows } = useQuery<{ readonly begun: 0 | 1 }>(noteBegun, [noteId]);
  const begun = rows[0]?.begun;
  useEffect(() => {
    if (begun === 0 && mayWrite) run(() => beginNote(client, noteId));
  }, [begun, client, mayWrite, noteId, run]);
  return (
    <section
      className="entry-note"
      aria-label={`Note on ${name}`}
      onKeyDown={(event) => {
        if (keyOf(event) === 'Escape') onClose();
      }}
    >
      <header className="entry-note-head">
        <h2>Note on {name}</h2>
        <button type="button" onClick={onClose} autoFocus={!mayWrite}>
          Close
        </button>
      </header>
      {begun === 1 && (
        <NoteEditor
          key={String(mayWrite)}
          noteId={noteId}
          label={`Note on ${name}`}
          hint="Details for the others …"
          focused={mayWrite}
          mayWrite={mayWrite}
        />
      )}
      {begun === 0 && !mayWrite && <p className="hint">No notes yet.</p>}
    </section>
  );
}
