import { createContext, useCallback, useContext, useMemo, useState, type ReactNode } from 'react';
import { errorSentence } from './error-sentence.ts';

interface Failures {
  /** Runs an action of the user and says so, calmly, when it fails. Local writes take no time worth showing, so there is no waiting state. */
  readonly run: (action: () => Promise<unknown>) => void;
  readonly report: (error: unknown) => void;
}

const FailureContext = createContext<Failures | null>(null);

function useFailures(): Failures {
  const failures = useContext(FailureContext);
  if (failures === null) throw new Error('this needs a <FailureNotice> above it');
  return failures;
}

export function useAction(): Failures['run'] {
  return useFailures().run;
}

export function useReport(): Failures['report'] {
  return useFailures().report;
}

/** Shows the last failure until an action succeeds or it is put away. */
export function FailureNotice({ children }: { readonly children: ReactNode }): ReactNode {
  const [sentence, setSentence] = useState<string | null>(null);
  const report = useCallback((error: unknown) => setSentence(errorSentence(error)), []);
  const run = useCallback<Failures['run']>(
    (action) => {
      action().then(() => setSentence(null), report);
    },
    [report],
  );
  const failures = useMemo(() => ({ run, report }), [run, report]);
  return (
    <FailureContext value={failures}>
      {sentence !== null && (
        <p className="failure" role="alert">
          {sentence}
          <button type="button" className="quiet" onClick={() => setSentence(null)}>
            Close
          </button>
        </p>
      )}
      {children}
    </FailureContext>
  );
}
