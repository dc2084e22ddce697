import { useClient } from '@rockpool/client/react';
import { createContext, useCallback, useContext, useEffect, useMemo, useRef, useState, type ReactNode } from 'react';
import { useRole } from '../budget/role.ts';
import { errorSentence } from './error-sentence.ts';
import { isTyping } from './keys.ts';

interface Actions {
  /**
   * Runs an action of the user and says so, calmly, when it fails. Local writes take no time worth showing, so there is no waiting state. `done` says what
   * was done, with a way back: given what the action resolved to, or as it is. Nothing is said where it gives an empty text.
   */
  readonly run: <T>(action: () => Promise<T>, done?: string | ((value: T) => string)) => void;
  /** The same for what changes nothing in the budget, such as an export: whoever may only look may do that too. */
  readonly runTask: (task: () => Promise<unknown>) => void;
  readonly report: (error: unknown) => void;
}

const ActionContext = createContext<Actions | null>(null);

function useActions(): Actions {
  const actions = useContext(ActionContext);
  if (actions === null) throw new Error('this needs a <FailureNotice> above it');
  return actions;
}

export function useAction(): Actions['run'] {
  return useActions().run;
}

export function useTask(): Actions['runTask'] {
  return useActions().runTask;
}

export function useReport(): Actions['report'] {
  return useActions().report;
}

interface Toast {
  readonly sentence: string;
  readonly offer: 'undo' | 'redo' | null;
}

/** Said instead of writing what the server would refuse. */
const lookingOnlySentence = 'You may look at this budget and not change it, so nothing was changed. An owner can let you do more.';

/** Long enough to read and to decide; what is done can be taken back by keys afterwards as well. */
const toastMs = 10_000;

/**
 * Shows the last failure until an action succeeds or it is put away, and what was last done, with "Undo". Ctrl+Z takes back this tab's last write, whichever
 * it was, Ctrl+Y does it again; in a text field they are the field's own.
 */
export function FailureNotice({ children }: { readonly children: ReactNode }): ReactNode {
  const client = useClient();
  const [failure, setFailure] = useState<string | null>(null);
  const [toast, setToast] = useState<Toast | null>(null);
  const report = useCallback((error: unknown) => setFailure(errorSentence(error)), []);
  const mayWrite = useRole() !== 'viewer';
  const run = useCallback<Actions['run']>(
    (action, done = '') => {
      if (!mayWrite) return setFailure(lookingOnlySentence);
      action().then((value) => {
        setFailure(null);
        const sentence = typeof done === 'string' ? done : done(value);
        setToast(sentence === '' ? null : { sentence, offer: 'undo' });
      }, report);
    },
    [mayWrite, report],
  );
  const runTask = useCallback((task: () => Promise<unknown>): void => void task().then(() => setFailure(null), report), [report]);
  const goBack = useCallback(
    (way: 'undo' | 'redo') => {
      client[way]().then((went) => {
        setFailure(null);
        if (way === 'undo') setToast(went ? { sentence: 'Undone.', offer: 'redo' } : { sentence: 'There is nothing to undo.', offer: null });
        else setToast(went ? { sentence: 'Done again.', offer: 'undo' } : { sentence: 'There is nothing to do again.', offer: null });
      }, report);
    },
    [client, report],
  );
  useUndoKeys(goBack);
  useEffect(() => {
    if (toast === null) return undefined;
    const timer = setTimeout(() => setToast(null), toastMs);
    return () => clearTimeout(timer);
  }, [toast]);
  const actions = useMemo(() => ({ run, runTask, report }), [run, runTask, report]);

  return (
    <ActionContext value={actions}>
      {failure !== null && (
        <p className="failure" role="alert">
          {failure}
          <button type="button" className="quiet" onClick={() => setFailure(null)}>
            Close
          </button>
        </p>
      )}
      {children}
      <div className="toast-place" role="status" aria-label="Last change">
        {toast !== null && (
          <p className="toast">
            <span>{toast.sentence}</span>
            {toast.offer !== null && <ToastButton offer={toast.offer} onPress={goBack} />}
          </p>
        )}
      </div>
    </ActionContext>
  );
}

function ToastButton({ offer, onPress }: { readonly offer: 'undo' | 'redo'; readonly onPress: (offer: 'undo' | 'redo') => void }): ReactNode {
  return (
    <button type="button" className="quiet" onClick={() => onPress(offer)}>
      {offer === 'undo' ? 'Undo' : 'Redo'}
    </button>
  );
}

function useUndoKeys(goBack: (way: 'undo' | 'redo') => void): void {
  const latest = useRef(goBack);
  latest.current = goBack;
  useEffect(() => {
    const listen = (event: KeyboardEvent): void => {
      if (!(event.ctrlKey || event.metaKey) || isTyping(event.target)) return;
      const key = event.key.toLowerCase();
      if (key !== 'z' && key !== 'y') return;
      event.preventDefault();
      latest.current(key === 'y' || event.shiftKey ? 'redo' : 'undo');
    };
    addEventListener('keydown', listen);
    return () => removeEventListener('keydown', listen);
  }, []);
}
