import { useClient } from '@rockpool/client/react';
import { useMemo, type ReactNode } from 'react';
import type { Budget } from '../budget/budget.ts';
import { useMayWrite } from '../budget/role.ts';
import { accountsWithBalances, type AccountRow } from '../queries/accounts.ts';
import { categoriesByName, type CategoryRow } from '../queries/categories.ts';
import { latestConflicts, type ConflictRow } from '../queries/conflicts.ts';
import { usePeopleNames } from '../share/use-people-names.ts';
import { useAction } from '../shell/failure.tsx';
import { formatDay, formatMoment, locale } from '../shell/locale.ts';
import { useQuery } from '../shell/use-query.ts';
import { restoreLost } from './actions.ts';
import { lossWords, ruleWords, valueWords, type Wording } from './conflict-words.ts';
import { conflictsOf, isRestorable, wentWithRow, type Conflict } from './conflicts.ts';

/** The list of conflicts: the current value, the lost one, the reason, and a button that restores the lost value. */
export function ConflictList({ budget, device }: { readonly budget: Budget; readonly device: string }): ReactNode {
  const client = useClient();
  const run = useAction();
  const mayWrite = useMayWrite();
  const names = usePeopleNames(budget);
  const { rows, loading } = useQuery<ConflictRow>(latestConflicts);
  const { rows: categories } = useQuery<CategoryRow>(categoriesByName);
  const { rows: accounts } = useQuery<AccountRow>(accountsWithBalances);
  const conflicts = useMemo(() => conflictsOf(rows), [rows]);
  const wording: Wording = {
    locale,
    categoryNames: new Map(categories.map(({ id, name }) => [id, name])),
    accountNames: new Map(accounts.map(({ id, name }) => [id, name])),
    currency: accounts[0]?.currency ?? 'EUR',
  };
  const whoIs = (author: string): string =>
    author === device ? 'this device' : (names.get(author) ?? 'another device');
  if (loading) return null;
  return (
    <section>
      <h2>Conflicts</h2>
      {conflicts.length === 0 && (
        <p className="empty">
          No conflicts. When two devices change the same thing before they sync, the later change wins and the other one
          is kept here.
        </p>
      )}
      <ul className="conflicts">
        {conflicts.map((conflict) => (
          <li key={conflict.first.id} className="card conflict">
            <p className="conflict-what">
              <strong>{nameOf(conflict)}</strong>
              {conflict.first.rowDate !== null && `, ${formatDay(conflict.first.rowDate)}`} · {lossWords(conflict)}
            </p>
            <p>
              <Sentence conflict={conflict} wording={wording} whoIs={whoIs} />
            </p>
            <p className="hint">{ruleWords[conflict.first.rule]}</p>
            {mayWrite && isRestorable(conflict) && (
              <button type="button" onClick={() => run(() => restoreLost(client, conflict), 'Restored.')}>
                {conflict.first.columnName === null
                  ? 'Delete it anyway'
                  : `Restore ${wentWithRow(conflict.first) ? 'it' : valueWords(conflict, 'lostValue', wording)}`}
              </button>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

function nameOf({ first }: Conflict): string {
  if (first.rowName === null) return 'Deleted item';
  return first.rowName === '' ? 'No payee' : first.rowName;
}

interface SentenceProps {
  readonly conflict: Conflict;
  readonly wording: Wording;
  readonly whoIs: (author: string) => string;
}

/** The event, its author and its time. */
function Sentence({ conflict, wording, whoIs }: SentenceProps): ReactNode {
  const { first } = conflict;
  const winner = whoIs(first.wonBy);
  const loser = whoIs(first.lostBy);
  const lostAt = formatMoment(first.lostAtMs);
  const lost = <b>{valueWords(conflict, 'lostValue', wording)}</b>;
  if (first.columnName === null) return `Deleted by ${loser}, ${lostAt}, while ${winner} changed it.`;
  if (wentWithRow(first)) {
    return (
      <>
        {lost} from {loser}, {lostAt}, was lost because {winner} deleted the item it belonged to.
      </>
    );
  }
  return (
    <>
      <b>{valueWords(conflict, 'wonValue', wording)}</b> from {winner} replaced {lost} from {loser}, {lostAt}.
    </>
  );
}
