import type { LiveDocumentState } from '@rockpool/client';
import { useClient } from '@rockpool/client/react';
import { lazy, Suspense, useEffect, useRef, useState, type ReactNode } from 'react';
import { flushSync } from 'react-dom';
import { useRole } from '../budget/role.ts';
import { useView } from '../budget/view.ts';
import { errorSentence } from '../shell/error-sentence.ts';
import { useReport } from '../shell/failure.tsx';
import { openNote, type NoteContent } from './actions.ts';

const NoteHistory = lazy(() => import('./history/note-history.tsx'));

const opening = 'Opening …';

export interface NoteEditorProps {
  /** The id of an existing note. */
  readonly noteId: string;
  /** For screen readers. */
  readonly label: string;
  /** False if the note is read-only. */
  readonly mayWrite: boolean;
  /** True if opened for writing, so the editor takes the focus. Default false. */
  readonly focused?: boolean;
  /** Placeholder for an empty note. */
  readonly hint: string;
}

/**
 * One note, edited live by everyone who has it open, with their cursors. Rendered once the editor's code and the
 * document are loaded.
 */
export function NoteEditor({ noteId, label, mayWrite, focused = false, hint }: NoteEditorProps): ReactNode {
  const client = useClient();
  const report = useReport();
  const host = useRef<HTMLDivElement>(null);
  /** A problem, or that the note is not open yet. */
  const [notice, setNotice] = useState<string | null>(opening);
  const role = useRole();
  const view = useView();
  const [recalling, setRecalling] = useState(false);
  const historyButton = useRef<HTMLButtonElement>(null);

  useEffect(() => {
    let isShown = true;
    let end = (): void => undefined;
    const show = async (): Promise<void> => {
      // Before the document is opened, because this may fail.
      const { mountEditor } = await import('./editor.ts');
      const document = await openNote(client, noteId);
      const close = (): void => void document.close().catch(report);
      if (!isShown || host.current === null) return close();
      end = close;
      const unmount = mountEditor(host.current, document, { label, mayWrite, focused, hint });
      setNotice(null);
      const unfollow = document.subscribe((current) => setNotice(problemOf(current)));
      end = () => {
        unfollow();
        unmount();
        close();
      };
    };
    show().catch((error: unknown) => {
      if (!isShown) return;
      setNotice('The note cannot be opened. Reload the page, then try again.');
      report(error);
    });
    return () => {
      isShown = false;
      end();
      setNotice(opening);
    };
  }, [client, focused, hint, label, mayWrite, noteId, report]);

  // Closing the history removes the focused element.
  const closeHistory = (): void => {
    flushSync(() => setRecalling(false));
    historyButton.current?.focus();
  };
  return (
    <>
      <section className="card notes-text">
        <div ref={host} className="notes-editor" />
        <div className="note-foot">
          <p className="hint" role="status">
            {notice ?? (mayWrite ? 'Saved as you type.' : 'Read-only.')}
          </p>
          {role !== 'viewer' && view === 'today' && (
            <button
              type="button"
              ref={historyButton}
              className="quiet"
              aria-expanded={recalling}
              onClick={() => setRecalling(!recalling)}
            >
              History
            </button>
          )}
        </div>
      </section>
      {recalling && (
        <Suspense>
          <NoteHistory noteId={noteId} label={label} mayWrite={mayWrite} onClose={closeHistory} />
        </Suspense>
      )}
    </>
  );
}

function problemOf({ state, error }: LiveDocumentState<NoteContent>): string | null {
  if (state === 'gone') return 'This note was deleted.';
  return error === null ? null : `Not saved yet. ${errorSentence(error)}`;
}
