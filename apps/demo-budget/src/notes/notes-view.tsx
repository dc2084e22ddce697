import type { LiveDocument } from '@rockpool/client';
import { useClient } from '@rockpool/client/react';
import { useEffect, useRef, useState, type ReactNode } from 'react';
import { useMayWrite } from '../budget/role.ts';
import { notesBegun } from '../queries/notes.ts';
import { useAction, useReport } from '../shell/failure.tsx';
import { useQuery } from '../shell/use-query.ts';
import { beginNotes, openNotes, type NoteContent } from './actions.ts';

/** One text for everybody who has the budget, which they write together. */
export function NotesView(): ReactNode {
  const client = useClient();
  const run = useAction();
  const { rows } = useQuery<{ readonly begun: 0 | 1 }>(notesBegun);
  const begun = rows[0]?.begun;
  const mayWrite = useMayWrite();
  return (
    <>
      <h1>Notes</h1>
      {begun === 0 && (
        <section className="card notes-begin">
          <p>A page for whatever belongs to the budget and is not a number. Everybody who has the budget writes on it, at the same time if they like.</p>
          {mayWrite ? (
            <button type="button" className="primary" onClick={() => run(() => beginNotes(client))}>
              Begin the notes
            </button>
          ) : (
            <p className="hint">Nobody has begun it yet.</p>
          )}
        </section>
      )}
      {begun === 1 && <NotesEditor key={String(mayWrite)} mayWrite={mayWrite} />}
    </>
  );
}

/** The editor, from when its code and the document are there. */
function NotesEditor({ mayWrite }: { readonly mayWrite: boolean }): ReactNode {
  const client = useClient();
  const report = useReport();
  const host = useRef<HTMLDivElement>(null);
  const [problem, setProblem] = useState<string | null>(null);

  useEffect(() => {
    let isShown = true;
    let end = (): void => undefined;
    const show = async (): Promise<void> => {
      const [{ mountEditor }, document] = await Promise.all([import('./editor.ts'), openNotes(client)]);
      const close = (): void => void document.close().catch(report);
      if (!isShown || host.current === null) return close();
      const unmount = mountEditor(host.current, document, { label: 'Notes of this budget', mayWrite });
      const unfollow = document.onChange(() => setProblem(problemOf(document)));
      end = () => {
        unfollow();
        unmount();
        close();
      };
    };
    show().catch(report);
    return () => {
      isShown = false;
      end();
    };
  }, [client, mayWrite, report]);

  return (
    <section className="card notes-text">
      <div ref={host} className="notes-editor" />
      <p className="hint" role="status">
        {problem ?? (mayWrite ? 'Kept as you type, on this device first.' : 'You may read along.')}
      </p>
    </section>
  );
}

function problemOf({ state, error }: LiveDocument<NoteContent>): string | null {
  if (state === 'gone') return 'Somebody has deleted the notes.';
  return error === null ? null : `Not kept yet: ${error.message}`;
}
