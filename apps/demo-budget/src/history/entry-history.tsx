import { useClient } from '@rockpool/client/react';
import { useEffect, useState, type ReactNode } from 'react';
import { flushSync } from 'react-dom';
import type { Budget } from '../budget/budget.ts';
import { useMayWrite } from '../budget/role.ts';
import { useReport, useTask } from '../shell/failure.tsx';
import { keyOf } from '../shell/keys.ts';
import { hashOf } from '../shell/navigation.ts';
import { useWording } from '../words/use-wording.ts';
import { currentState, partIdsOf, rowsOfEntry, stateAt, type EntryState } from './entry-state.ts';
import './history.css';
import { MomentList } from './moment-list.tsx';
import { RestoreForm } from './restore-form.tsx';
import { useHistories } from './use-histories.ts';

export interface EntryHistoryProps {
  readonly budget: Budget;
  readonly entryId: string;
  /** The entry's label and day. */
  readonly name: string;
  /** The currency of its account. */
  readonly currency: string;
  readonly onClose: () => void;
}

function restoreButtonId(momentId: string): string {
  return `restore-${momentId}`;
}

interface Restoring {
  readonly momentId: string;
  readonly older: EntryState;
  readonly now: EntryState;
}

/** Who changed an entry, when and what, and a way back to each of its states. */
export default function EntryHistory({ budget, entryId, name, currency, onClose }: EntryHistoryProps): ReactNode {
  const client = useClient();
  const report = useReport();
  const run = useTask();
  const mayWrite = useMayWrite();
  const wording = useWording();
  const [partIds, setPartIds] = useState<readonly string[] | null>(null);
  const [restoring, setRestoring] = useState<Restoring | null>(null);
  useEffect(() => {
    let isShown = true;
    partIdsOf(client, entryId).then(
      (ids) => isShown && setPartIds(ids),
      (error: unknown) => isShown && report(error),
    );
    return () => {
      isShown = false;
    };
  }, [client, entryId, report]);
  const rows = partIds === null ? null : rowsOfEntry(entryId, partIds);
  const histories = useHistories(rows, report);
  const isDeleted = histories.moments[0]?.changes.some(
    ({ row, version }) => row.table === 'entries' && version.kind === 'delete',
  );
  const restore = (momentId: string, version: number): void =>
    run(async () => {
      const [older, now] = await Promise.all([
        stateAt(client, entryId, partIds ?? [], version),
        currentState(client, entryId),
      ]);
      setRestoring({ momentId, older, now });
    });
  // Closing the form removes the focused element.
  const leaveForm = (momentId: string): void => {
    flushSync(() => setRestoring(null));
    document.getElementById(restoreButtonId(momentId))?.focus();
  };
  return (
    <section
      className="history"
      aria-label={`History of ${name}`}
      onKeyDown={(event) => {
        if (keyOf(event) !== 'Escape') return;
        event.stopPropagation();
        onClose();
      }}
    >
      <header className="history-head">
        <h2>History of {name}</h2>
        <button type="button" onClick={onClose} autoFocus>
          Close
        </button>
      </header>
      <MomentList histories={histories} main={{ table: 'entries', key: entryId }} currency={currency} wording={wording}>
        {({ id, version }, index) =>
          restoring?.momentId === id ? (
            <RestoreForm {...restoring} currency={currency} wording={wording} onDone={() => leaveForm(id)} />
          ) : (
            version !== null && (
              <div className="buttons">
                {mayWrite && index > 0 && isDeleted !== true && (
                  <button type="button" id={restoreButtonId(id)} className="quiet" onClick={() => restore(id, version)}>
                    Restore …
                  </button>
                )}
                <a href={hashOf(budget, { page: 'accounts', view: `version-${version}` })}>Budget at this time</a>
              </div>
            )
          )
        }
      </MomentList>
    </section>
  );
}
