import type { WaitingChangeset } from '@rockpool/client';
import { useClient, useSyncStatus } from '@rockpool/client/react';
import { useCallback, useEffect, useState, type ReactNode } from 'react';
import { useReport } from '../shell/failure.tsx';
import type { KnownRows } from '../words/row-differences.ts';
import { ChangesetSummary } from './changeset-summary.tsx';
import { takeBackSentence } from './status-sentence.ts';
import { useKnownRows } from './use-known-rows.ts';

/** The oldest come first, and those hold up the others. */
const LISTED_AT_MOST = 20;

const NONE: readonly WaitingChangeset[] = [];

/** The changes that the server does not accept now, each with a button that takes it back. */
export function WaitingList(): ReactNode {
  const { state, reason, pendingCount } = useSyncStatus();
  const advice = state === 'blocked' && pendingCount > 0 ? takeBackSentence(reason) : null;
  const { waiting, listAgain } = useWaiting(advice !== null);
  const known = useKnownRows(waiting);
  if (advice === null || waiting.length === 0 || known === null) return null;
  return (
    <section aria-labelledby="waiting-title">
      <h2 id="waiting-title">Waiting changes</h2>
      <p>{advice}</p>
      <ul className="conflicts">
        {waiting.slice(0, LISTED_AT_MOST).map((changeset) => (
          <WaitingCard key={changeset.id} changeset={changeset} known={known} onTakenBack={listAgain} />
        ))}
      </ul>
      {waiting.length > LISTED_AT_MOST && <p className="hint">Only the oldest {LISTED_AT_MOST} are listed.</p>}
    </section>
  );
}

interface Waiting {
  /** One more than are listed, if there are more. */
  readonly waiting: readonly WaitingChangeset[];
  readonly listAgain: () => void;
}

/**
 * The first changes of the outbox. Reads them again when one is taken back, also in another tab: `pendingCount` falls
 * only once the server has decided it.
 */
function useWaiting(isShown: boolean): Waiting {
  const { outbox } = useClient();
  const { pendingCount, rejectedCount } = useSyncStatus();
  const report = useReport();
  const [waiting, setWaiting] = useState(NONE);
  const [times, setTimes] = useState(0);
  const listAgain = useCallback(() => setTimes((before) => before + 1), []);
  useEffect(() => {
    let isCurrent = true;
    const show = (list: readonly WaitingChangeset[]): void => {
      if (isCurrent) setWaiting(list);
    };
    if (!isShown) show(NONE);
    else outbox.list({ limit: LISTED_AT_MOST + 1 }).then(show, report);
    return () => {
      isCurrent = false;
    };
  }, [outbox, isShown, pendingCount, rejectedCount, times, report]);
  return { waiting, listAgain };
}

interface WaitingCardProps {
  readonly changeset: WaitingChangeset;
  readonly known: KnownRows;
  readonly onTakenBack: () => void;
}

function WaitingCard({ changeset, known, onTakenBack }: WaitingCardProps): ReactNode {
  const { outbox } = useClient();
  const report = useReport();
  const [isBusy, setBusy] = useState(false);
  const takeBack = async (): Promise<void> => {
    setBusy(true);
    try {
      await outbox.withdraw(changeset.id);
      onTakenBack();
    } catch (error) {
      report(error);
    } finally {
      setBusy(false);
    }
  };
  return (
    <li className="card conflict">
      <ChangesetSummary changeset={changeset} known={known} />
      <div className="buttons">
        <button type="button" disabled={isBusy} onClick={() => void takeBack()}>
          Take back
        </button>
      </div>
    </li>
  );
}
