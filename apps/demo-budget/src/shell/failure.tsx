import { createContext, useCallback, useContext, useMemo, useState, type ReactNode } from 'react';
import { useMayWrite } from '../budget/role.ts';
import { errorSentence } from './error-sentence.ts';
import { UndoToast, type Done } from './undo-toast.tsx';

interface Actions {
  /**
   * Runs an action of the user and says so, calmly, when it fails. Local writes take no time worth showing, so there is no waiting state. `words` say what
   * was done, given what the action resolved to, and a way back stands beside them. Nothing is said where they are empty.
   */
  readonly run: <T>(action: () => Promise<T>, words?: string | ((value: T) => string)) => void;
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

/** Said instead of writing what the server would refuse. */
const lookingOnlySentence = 'You may look at this budget and not change it, so nothing was changed. An owner can let you do more.';

/** Shows the last failure until an action succeeds or it is put away, and what was last done, with "Undo". */
export function FailureNotice({ children }: { readonly children: ReactNode }): ReactNode {
  const [failure, setFailure] = useState<string | null>(null);
  const [done, setDone] = useState<Done | null>(null);
  const report = useCallback((error: unknown) => setFailure(errorSentence(error)), []);
  const mayWrite = useMayWrite();
  const run = useCallback<Actions['run']>(
    (action, words = '') => {
      if (!mayWrite) return setFailure(lookingOnlySentence);
      action().then((value) => {
        setFailure(null);
        const sentence = typeof words === 'string' ? words : words(value);
        setDone(sentence === '' ? null : { sentence, offer: 'undo' });
      }, report);
    },
    [mayWrite, report],
  );
  const runTask = useCallback((task: () => Promise<unknown>): void => void task().then(() => setFailure(null), report), [report]);
  const say = useCallback((last: Done | null) => {
    if (last !== null) setFailure(null);
    setDone(last);
  }, []);
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
      {mayWrite && <UndoToast done={done} onDone={say} onFailure={report} />}
    </ActionContext>
  );
}
