import { useClient } from '@rockpool/client/react';
import type { ReactNode } from 'react';
import { useMayWrite } from '../budget/role.ts';
import { noteBegun } from '../queries/notes.ts';
import { useAction } from '../shell/failure.tsx';
import { useQuery } from '../shell/use-query.ts';
import { beginNote, budgetNoteId } from './actions.ts';
import { NoteEditor } from './note-editor.tsx';

/** One text for the whole budget, which its members edit together. */
export function NotesView(): ReactNode {
  const client = useClient();
  const run = useAction();
  const { rows } = useQuery<{ readonly begun: 0 | 1 }>(noteBegun, [budgetNoteId]);
  const begun = rows[0]?.begun;
  const mayWrite = useMayWrite();
  return (
    <>
      <h1>Notes</h1>
      {begun === 0 && (
        <section className="card notes-begin">
          <p>Shared notes about the budget. Everyone can edit them at the same time.</p>
          {mayWrite ? (
            <button type="button" className="primary" onClick={() => run(() => beginNote(client, budgetNoteId))}>
              Start writing
            </button>
          ) : (
            <p className="hint">No notes yet.</p>
          )}
        </section>
      )}
      {begun === 1 && (
        <NoteEditor
          key={String(mayWrite)}
          noteId={budgetNoteId}
          label="Notes of this budget"
          hint="Plans for the summer, who pays what …"
          mayWrite={mayWrite}
        />
      )}
    </>
  );
}
