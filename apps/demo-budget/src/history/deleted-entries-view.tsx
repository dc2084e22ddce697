import { useClient } from '@rockpool/client/react';
import { useState, type ReactNode } from 'react';
import type { Budget } from '../budget/budget.ts';
import { useMayWrite } from '../budget/role.ts';
import { latestDeletedEntries, type DeletedEntryRow } from '../queries/deleted-entries.ts';
import { containing } from '../queries/text-pattern.ts';
import { Amount } from '../shell/amount.tsx';
import { useAction } from '../shell/failure.tsx';
import { formatDay, formatMoment } from '../shell/locale.ts';
import { useSteadyQuery } from '../shell/use-query.ts';
import { bringBack } from './actions.ts';
import EntryHistory from './entry-history.tsx';
import './history.css';

const shownAtMost = 200;

/** The entries that were deleted, with their history and a way to bring them back. */
export default function DeletedEntriesView({ budget }: { readonly budget: Budget }): ReactNode {
  const client = useClient();
  const run = useAction();
  const mayWrite = useMayWrite();
  const [text, setText] = useState('');
  const [openId, setOpenId] = useState<string | null>(null);
  const { rows, loading } = useSteadyQuery<DeletedEntryRow>(latestDeletedEntries, [
    containing(text.trim()),
    shownAtMost,
  ]);
  return (
    <>
      <h1>Deleted entries</h1>
      <p className="hint">Deleted entries can be restored for two years, with their splits and their history.</p>
      {(rows.length > 0 || text !== '') && (
        <input
          type="search"
          className="search"
          aria-label="Search deleted entries"
          placeholder="Payee, memo"
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
      )}
      {!loading && rows.length === 0 && (
        <p className="empty">{text === '' ? 'No deleted entries.' : 'No deleted entry matches.'}</p>
      )}
      {rows.length > 0 && (
        <ul className="card deleted-entries" aria-label="Deleted entries">
          {rows.map((row) => {
            const name = nameOf(row);
            return (
              <li key={row.id}>
                <div className="deleted-entry">
                  <div>
                    <strong>{name}</strong>
                    {row.notes !== '' && <span className="notes">{row.notes}</span>}
                    <p className="hint">
                      {formatDay(row.date)}, {row.accountName} · deleted {formatMoment(row.deletedAtMs)}
                    </p>
                  </div>
                  <Amount minor={row.amountMinor} currency={row.currency} signed />
                </div>
                {openId === row.id ? (
                  <EntryHistory
                    budget={budget}
                    entryId={row.id}
                    name={name}
                    currency={row.currency}
                    onClose={() => setOpenId(null)}
                  />
                ) : (
                  <div className="buttons">
                    {mayWrite && (
                      <button
                        type="button"
                        aria-label={`Restore ${name}, ${formatDay(row.date)}`}
                        onClick={() => run(() => bringBack(client, row), `${name} is back.`)}
                      >
                        Restore
                      </button>
                    )}
                    <button
                      type="button"
                      className="quiet"
                      aria-label={`History of ${name}, ${formatDay(row.date)}`}
                      onClick={() => setOpenId(row.id)}
                    >
                      History
                    </button>
                  </div>
                )}
              </li>
            );
          })}
        </ul>
      )}
      {rows.length === shownAtMost && <p className="hint">Only the last {shownAtMost} are shown. Search for others.</p>}
    </>
  );
}

function nameOf({ payee, transferId }: DeletedEntryRow): string {
  return transferId !== null ? 'Transfer' : payee === '' ? 'No payee' : payee;
}
