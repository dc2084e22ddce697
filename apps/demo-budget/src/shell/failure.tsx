import { RockpoolError } from '@rockpool/client';
import { createContext, useCallback, useContext, useMemo, useRef, useState, type ReactNode } from 'react';
import { useMayWrite } from '../budget/role.ts';
import { errorSentence } from './error-sentence.ts';
import { UndoToast, type Done } from './undo-toast.tsx';

type Save = <T>(work: () => Promise<T>, words: Words<T>, leave: (value: T) => void) => void;
type Words<T> = string | ((value: T) => string);

interface Failure {
  readonly sentence: string;
  /** Null: nothing would be gained by it, or the form that failed has a button of its own. */
  readonly again: (() => void) | null;
}

interface Actions {
  /**
   * Runs an action of the user and says so, calmly, when it fails. Local writes take no time worth showing, so there is
   * no waiting state. `words` say what was done, given what the action resolved to, and a way back stands beside them.
   * Nothing is said where they are empty. Where it may work later, it is offered to try again.
   */
  readonly run: <T>(action: () => Promise<T>, words?: Words<T>) => void;
  /**
   * The same for what a form holds: `leave` closes it once that is kept. Where it cannot be kept the form stays, with
   * all that was typed, and its own button tries again. While it is being saved another press does nothing.
   */
  readonly save: <T>(work: () => Promise<T>, words: Words<T>, leave: (value: T) => void) => Promise<void>;
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

/** For what a form holds, one for each form. */
export function useSave(): Save {
  const { save } = useActions();
  const saving = useRef(false);
  return useCallback(
    (work, words, leave) => {
      if (saving.current) return;
      saving.current = true;
      void save(work, words, leave).finally(() => {
        saving.current = false;
      });
    },
    [save],
  );
}

export function useTask(): Actions['runTask'] {
  return useActions().runTask;
}

export function useReport(): Actions['report'] {
  return useActions().report;
}

/** Said instead of writing what the server would refuse. */
const lookingOnlySentence = 'You can view this budget but not change it. Ask an owner for access.';

/** Whether the same action may succeed once the person, or time, has made room for it. */
function mayWorkLater(error: unknown): boolean {
  return error instanceof RockpoolError && (error.recovery === 'retry' || error.recovery === 'free-space');
}

/** Shows the last failure until an action succeeds or it is put away, and what was last done, with "Undo". */
export function FailureNotice({ page, children }: { readonly page: string; readonly children: ReactNode }): ReactNode {
  const [failure, setFailure] = useState<Failure | null>(null);
  const [done, setDone] = useState<Done | null>(null);
  // What was done is told where it was done: on the next page it would lie over something else. The keys take it back
  // from anywhere.
  const [shownOn, setShownOn] = useState(page);
  if (shownOn !== page) {
    setShownOn(page);
    setDone(null);
    setFailure(null);
  }
  const report = useCallback((error: unknown) => setFailure({ sentence: errorSentence(error), again: null }), []);
  const mayWrite = useMayWrite();
  const write = useCallback(
    async <T,>(action: () => Promise<T>, words: Words<T>, again: (() => void) | null): Promise<void> => {
      if (!mayWrite) return setFailure({ sentence: lookingOnlySentence, again: null });
      try {
        const value = await action();
        setFailure(null);
        const sentence = typeof words === 'string' ? words : words(value);
        setDone(sentence === '' ? null : { sentence, offer: 'undo' });
      } catch (error) {
        setFailure({ sentence: errorSentence(error), again: mayWorkLater(error) ? again : null });
      }
    },
    [mayWrite],
  );
  const run = useCallback<Actions['run']>(
    (action, words = '') => {
      const attempt = (): void => void write(action, words, attempt);
      attempt();
    },
    [write],
  );
  const save = useCallback(
    async <T,>(work: () => Promise<T>, words: Words<T>, leave: (value: T) => void): Promise<void> => {
      const keep = async (): Promise<T> => {
        const value = await work();
        leave(value);
        return value;
      };
      await write(keep, words, null);
    },
    [write],
  );
  const runTask = useCallback(
    (task: () => Promise<unknown>): void => void task().then(() => setFailure(null), report),
    [report],
  );
  const say = useCallback((last: Done | null) => {
    if (last !== null) setFailure(null);
    setDone(last);
  }, []);
  const actions = useMemo(() => ({ run, save, runTask, report }), [run, save, runTask, report]);

  return (
    <ActionContext value={actions}>
      {failure !== null && (
        <div className="failure" role="alert">
          <p>{failure.sentence}</p>
          {failure.again !== null && (
            <button type="button" onClick={failure.again}>
              Try again
            </button>
          )}
          <button type="button" className="quiet" onClick={() => setFailure(null)}>
            Close
          </button>
        </div>
      )}
      {children}
      {mayWrite && <UndoToast done={done} onDone={say} onFailure={report} />}
    </ActionContext>
  );
}
