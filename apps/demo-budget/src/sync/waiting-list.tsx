import type { WaitingChangeset } from '@rockpool/client';
import { useClient, useSyncStatus } from '@rockpool/client/react';
import { useEffect, useState, type ReactNode } from 'react';
import { useReport } from '../shell/failure.tsx';
import { locale } from '../shell/locale.ts';
import type { KnownRows } from '../words/row-differences.ts';
import { ChangesetSummary } from './changeset-summary.tsx';
import { useKnownRows } from './use-known-rows.ts';

/** The oldest come first, and those hold up the others. */
const LISTED_AT_MOST = 20;

const NONE: readonly WaitingChangeset[] = [];

/** The changes that the server does not accept now, each with a button that takes it back. */
export function WaitingList(): ReactNode {
  const { state, pendingCount } = useSyncStatus();
  const isShown = state === 'blocked' && pendingCount > 0;
  const waiting = useWaiting(isShown ? pendingCount : 0);
  const known = useKnownRows(waiting);
  if (!isShown || waiting.length === 0 || known === null) return null;
  return (
    <section aria-labelledby="waiting-title">
      <h2 id="waiting-title">Waiting changes</h2>
      <p>
        Changes sync one after the other. Take back a change that cannot sync, and the ones after it can. It leaves the
        budget and stays under “Rejected changes”, where you can try it again.
      </p>
      <ul className="conflicts">
        {waiting.map((changeset) => (
          <WaitingCard key={changeset.id} changeset={changeset} known={known} />
        ))}
      </ul>
      {pendingCount > waiting.length && (
        <p className="hint">And {(pendingCount - waiting.length).toLocaleString(locale)} more.</p>
      )}
    </section>
  );
}

/** The first changes of the outbox. Reads them again when `pendingCount` changes. */
function useWaiting(pendingCount: number): readonly WaitingChangeset[] {
  const { outbox } = useClient();
  const report = useReport();
  const [waiting, setWaiting] = useState(NONE);
  useEffect(() => {
    let isCurrent = true;
    const show = (list: readonly WaitingChangeset[]): void => {
      if (isCurrent) setWaiting(list);
    };
    if (pendingCount === 0) show(NONE);
    else outbox.list({ limit: LISTED_AT_MOST }).then(show, report);
    return () => {
      isCurrent = false;
    };
  }, [outbox, pendingCount, report]);
  return waiting;
}

interface WaitingCardProps {
  readonly changeset: WaitingChangeset;
  readonly known: KnownRows;
}

function WaitingCard({ changeset, known }: WaitingCardProps): ReactNode {
  const { outbox } = useClient();
  const report = useReport();
  const [isBusy, setBusy] = useState(false);
  const takeBack = async (): Promise<void> => {
    setBusy(true);
    try {
      await outbox.withdraw(changeset.id);
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
