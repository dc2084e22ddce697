import { RockpoolError } from '@rockpool/client';
import { useClient } from '@rockpool/client/react';
import { createContext, useCallback, useContext, useMemo, useRef, useState, type ReactNode } from 'react';
import { useMayWrite } from '../budget/role.ts';
import { errorSentence } from './error-sentence.ts';
import { lastChangeset, writtenSince } from './last-changeset.ts';
import { mostWrittenSince } from './own-writes.ts';
import { oneSave, type Save, type Words } from './one-save.ts';
import { addSteps, beginAction, counting, undoGroup, undoHistoryOf, type UndoStep } from './undo-steps.ts';
import { UndoToast, type Done } from './undo-toast.tsx';
import type { LongWork, Progress } from '../entries/change-many.ts';
import { WorkToast, type RunningWork } from './work-toast.tsx';

interface Failure {
  readonly sentence: string;
  /** Null if a retry would not help, or if the failed form has its own button. */
  readonly again: (() => void) | null;
}

/** How the undo shortcut undoes an action of several transactions. */
export interface Whole<T> {
  /** The number of transactions of this tab that changed a synced row. */
  readonly count: (value: T) => number;
  /**
   * Reverts what is left of the action. Called also if all its transactions are undone; then it must not write, because
   * even a write without effect clears the steps of `client.redo`. Resolves to the number of rows that it changed.
   */
  readonly revert: (value: T) => Promise<number>;
  /** Called once the action is undone. Resolves to the words to show. */
  readonly finish: (value: T) => Promise<string>;
}

interface Actions {
  /**
   * Runs a user action and reports a failure. Local writes are too fast for a waiting state. `words` describe the
   * finished action, may depend on its result, and appear with an "Undo" button; empty words show nothing. If the
   * action changed nothing, there is no button, and "Nothing changed." replaces fixed words. There is none either if it
   * was several transactions, such as an import, which the undo shortcut undoes together if `whole` is given. If a
   * retry may succeed, one is offered.
   */
  readonly run: <T>(action: () => Promise<T>, words?: Words<T>, whole?: Whole<T>) => void;
  /**
   * Like `run`, for a form: `leave` closes it once its values are stored. On failure, the form stays with everything
   * that was typed, and its own button retries. Ignores further clicks while saving.
   */
  readonly save: <T>(work: () => Promise<T>, words: Words<T>, leave: (value: T) => void) => Promise<void>;
  /**
   * Like `run`, for work that may take long: shows `label` with progress and a Stop button. Stopping is not a failure.
   * Resolves when the work ends: to false if it failed or the user stopped it, in which case typed values must be kept.
   */
  readonly work: <T>(label: string, action: (work: LongWork) => Promise<T>, words: Words<T>) => Promise<boolean>;
  /** Like `run`, for tasks that do not change the budget, such as an export: viewers may run them too. */
  readonly runTask: (task: () => Promise<unknown>) => void;
  readonly report: (error: unknown) => void;
}

const ActionContext = createContext<Actions | null>(null);

function useActions(): Actions {
  const actions = useContext(ActionContext);
  if (actions === null) throw new Error('Action hooks need a <FailureNotice> ancestor');
  return actions;
}

export function useAction(): Actions['run'] {
  return useActions().run;
}

/** Saves a form's values; call once per form. */
export function useSave(): Save {
  const { save } = useActions();
  const saving = useRef(false);
  return useMemo(() => oneSave(save, saving), [save]);
}

export function useWork(): Actions['work'] {
  return useActions().work;
}

export function useTask(): Actions['runTask'] {
  return useActions().runTask;
}

export function useReport(): Actions['report'] {
  return useActions().report;
}

/** The reason of a signal that the user aborted. */
const stopped = new DOMException('Stopped by the user', 'AbortError');

/** Shown instead of making a write that the server would reject. */
const lookingOnlySentence = 'You can view this budget but not change it. Ask an owner for access.';

/** Whether the same action may succeed after space is freed or after some time. */
function mayWorkLater(error: unknown): boolean {
  return error instanceof RockpoolError && (error.recovery === 'retry' || error.recovery === 'free-space');
}

/** Undo steps of an action: one per transaction, none for undoing an action, or one for all of it. */
type StepsOf<T> = 'transactions' | 'none' | ((value: T, isAlone: boolean) => UndoStep);

/** `written`: the number of transactions. Undo would revert the last one alone. */
function doneWith<T>(words: Words<T>, value: T, written: number): Done | null {
  if (words === '') return null;
  if (written === 0 && typeof words === 'string') return { sentence: 'Nothing changed.', offer: null };
  return { sentence: typeof words === 'string' ? words : words(value), offer: written === 1 ? 'undo' : null };
}

/** Shows the last failure until an action succeeds or the user dismisses it, and the last action with "Undo". */
export function FailureNotice({ page, children }: { readonly page: string; readonly children: ReactNode }): ReactNode {
  const [failure, setFailure] = useState<Failure | null>(null);
  const [done, setDone] = useState<Done | null>(null);
  const [running, setRunning] = useState<RunningWork | null>(null);
  // The toast closes on navigation, because it would cover other content on the next page. Undo shortcuts work
  // everywhere.
  const [shownOn, setShownOn] = useState(page);
  if (shownOn !== page) {
    setShownOn(page);
    setDone(null);
    setFailure(null);
  }
  const current = useRef(page);
  current.current = page;
  const report = useCallback((error: unknown) => setFailure({ sentence: errorSentence(error), again: null }), []);
  const client = useClient();
  const mayWrite = useMayWrite();
  const history = undoHistoryOf(client);
  const write = useCallback(
    async <T,>(
      action: () => Promise<T>,
      words: Words<T>,
      again: (() => void) | null,
      stepsOf: StepsOf<T> = 'transactions',
    ): Promise<boolean> => {
      if (!mayWrite) {
        setFailure({ sentence: lookingOnlySentence, again: null });
        return false;
      }
      const begunOn = current.current;
      const addTransactions = (count: number): void => addSteps(history, ...Array.from({ length: count }, () => null));
      const begun = stepsOf === 'none' ? null : beginAction(history, typeof stepsOf === 'function');
      let before: number | null | undefined;
      const mostWritten = mostWrittenSince(client);
      try {
        before = await lastChangeset(client);
        const value = await action();
        const isAlone = begun?.end() ?? false;
        // The action is done: a failed read must not report it as failed.
        const written = await counting(history, writtenSince(client, before, 1, mostWritten()));
        if (stepsOf === 'transactions') addTransactions(written);
        else if (stepsOf !== 'none' && written > 0) addSteps(history, stepsOf(value, isAlone));
        // The user may have left the page. A failure, however, is shown on any page.
        if (current.current === begunOn) {
          setFailure(null);
          const last = doneWith(words, value, written);
          setDone(last !== null && stepsOf === 'none' ? { ...last, offer: null } : last);
        }
        return true;
      } catch (error) {
        begun?.end();
        if (error === stopped) setDone({ sentence: 'Stopped. Nothing was changed.', offer: null });
        else setFailure({ sentence: errorSentence(error), again: mayWorkLater(error) ? again : null });
        // The transactions before the failure are steps of `client.undo`. The failure does not wait for their number.
        if (before !== undefined && stepsOf !== 'none')
          void counting(history, writtenSince(client, before, 0, mostWritten()).then(addTransactions));
        return false;
      }
    },
    [client, history, mayWrite],
  );
  const run = useCallback<Actions['run']>(
    <T,>(action: () => Promise<T>, words: Words<T> = '', whole?: Whole<T>) => {
      const groupOf = ({ count, revert, finish }: Whole<T>, value: T, isAlone: boolean): UndoStep =>
        undoGroup({
          client,
          history,
          count: count(value),
          isAlone,
          revert: () => revert(value),
          undo: async (undoAll, again) => {
            setRunning({ label: 'Undoing', progress: null, stop: null });
            const undo = async (): Promise<string> => {
              await undoAll();
              return await finish(value);
            };
            try {
              return await write(undo, (sentence) => sentence, again, 'none');
            } finally {
              setRunning(null);
            }
          },
        });
      const stepsOf: StepsOf<T> =
        whole === undefined ? 'transactions' : (value, isAlone) => groupOf(whole, value, isAlone);
      const attempt = (): void => void write(action, words, attempt, stepsOf);
      attempt();
    },
    [client, history, write],
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
  const work = useCallback<Actions['work']>(
    async <T,>(label: string, action: (work: LongWork) => Promise<T>, words: Words<T>): Promise<boolean> => {
      const stop = new AbortController();
      const show = (progress: Progress | null): void =>
        setRunning({ label, progress, stop: () => stop.abort(stopped) });
      show(null);
      const run = (): Promise<T> => action({ onProgress: show, signal: stop.signal });
      try {
        return await write(run, words, null);
      } finally {
        setRunning(null);
      }
    },
    [write],
  );
  const runTask = useCallback(
    (task: () => Promise<unknown>): void => {
      const begunOn = current.current;
      const finish = (): void => {
        if (current.current === begunOn) setFailure(null);
      };
      void task().then(finish, report);
    },
    [report],
  );
  const say = useCallback((last: Done | null) => {
    if (last !== null) setFailure(null);
    setDone(last);
  }, []);
  const actions = useMemo(() => ({ run, save, work, runTask, report }), [run, save, work, runTask, report]);

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
      {running !== null && <WorkToast work={running} />}
      {mayWrite && (
        <UndoToast done={running === null ? done : null} history={history} onDone={say} onFailure={report} />
      )}
    </ActionContext>
  );
}
