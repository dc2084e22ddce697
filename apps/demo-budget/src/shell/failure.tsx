import { createContext, useCallback, useContext, useMemo, useState, type ReactNode } from 'react';
import { errorSentence } from './error-sentence.ts';

/** Runs an action of the user and says so, calmly, when it fails. Local writes take no time worth showing, so there is no waiting state. */
export type RunAction = (action: () => Promise<unknown>) => void;

const RunActionContext = createContext<RunAction>(() => {
  throw new Error('useAction needs a FailureNotice around it');
});

export function useAction(): RunAction {
  return useContext(RunActionContext);
}

/** Shows the last failed action until it is put away. */
export function FailureNotice({ children }: { readonly children: ReactNode }): ReactNode {
  const [sentence, setSentence] = useState<string | null>(null);
  const run = useCallback<RunAction>((action) => {
    action().then(
      () => setSentence(null),
      (error: unknown) => setSentence(errorSentence(error)),
    );
  }, []);
  const notice = useMemo(
    () =>
      sentence === null ? null : (
        <p className="failure" role="alert">
          {sentence}
          <button type="button" className="quiet" onClick={() => setSentence(null)}>
            Close
          </button>
        </p>
      ),
    [sentence],
  );
  return (
    <RunActionContext value={run}>
      {notice}
      {children}
    </RunActionContext>
  );
}
