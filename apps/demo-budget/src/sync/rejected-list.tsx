import { RockpoolError, type RejectedChangeset } from '@rockpool/client';
import { useClient } from '@rockpool/client/react';
import { useState, type ReactNode } from 'react';
import { useMayWrite } from '../budget/role.ts';
import { errorSentence } from '../shell/error-sentence.ts';
import { useReport } from '../shell/failure.tsx';
import type { KnownRows } from '../words/row-differences.ts';
import { ChangesetSummary } from './changeset-summary.tsx';
import { rejectionSentence } from './rejected-words.ts';
import { useRejected } from './use-rejected.ts';

/** The rejected changes, oldest first: what they were, why, and buttons that retry or discard them. */
export function RejectedList(): ReactNode {
  const { rejected, known } = useRejected();
  if (rejected.length === 0 || known === null) return null;
  return (
    <section id="rejected" aria-labelledby="rejected-title">
      <h2 id="rejected-title">Rejected changes</h2>
      <p>
        These changes are not in the budget. They stay on this device until you try them again or discard them. Start
        with the oldest: later ones may depend on it.
      </p>
      <ul className="conflicts">
        {rejected.map((changeset) => (
          <RejectedCard key={changeset.sequence} changeset={changeset} known={known} />
        ))}
      </ul>
    </section>
  );
}

interface RejectedCardProps {
  readonly changeset: RejectedChangeset;
  readonly known: KnownRows;
}

function RejectedCard({ changeset, known }: RejectedCardProps): ReactNode {
  const { rejected } = useClient();
  const report = useReport();
  const mayWrite = useMayWrite();
  const { sequence, reason, decided } = changeset;
  const [problem, setProblem] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  const [isAsking, setAsking] = useState(false);

  const decide = async (work: () => Promise<void>): Promise<void> => {
    setProblem(null);
    setBusy(true);
    try {
      await work();
    } catch (error) {
      if (error instanceof RockpoolError)
        setProblem(rejectionSentence({ code: error.code, message: errorSentence(error) }));
      else report(error);
    } finally {
      setBusy(false);
    }
  };
  return (
    <li className="card conflict">
      <ChangesetSummary changeset={changeset} known={known} />
      <p>
        {rejectionSentence(reason)} <code>{reason.code}</code>
      </p>
      {problem !== null && (
        <p className="problem" role="alert">
          Not saved. {problem}
        </p>
      )}
      {!decided && <p className="hint">The server has not answered yet. You can decide when it has.</p>}
      {isAsking ? (
        <div className="offer" role="alert">
          <span>Discard this change for good?</span>
          <button
            type="button"
            className="danger"
            autoFocus
            disabled={isBusy}
            onClick={() => void decide(() => rejected.drop(sequence))}
          >
            Discard
          </button>
          <button type="button" className="quiet" onClick={() => setAsking(false)}>
            Keep it
          </button>
        </div>
      ) : (
        <div className="buttons">
          {mayWrite && (
            <button
              type="button"
              disabled={!decided || isBusy}
              onClick={() => void decide(() => rejected.retry(sequence))}
            >
              Try again
            </button>
          )}
          <button type="button" className="quiet" disabled={!decided || isBusy} onClick={() => setAsking(true)}>
            Discard …
          </button>
        </div>
      )}
    </li>
  );
}
