import { useClient } from '@rockpool/client/react';
import { useState, type ReactNode } from 'react';
import type { KnownBudget } from '../budget/known-budgets.ts';
import { useMayWrite } from '../budget/role.ts';
import { accountsWithBalances, type AccountRow } from '../queries/accounts.ts';
import { categoriesByName, type CategoryRow } from '../queries/categories.ts';
import { usePeopleNames } from '../share/use-people-names.ts';
import { useAction } from '../shell/failure.tsx';
import { formatDay, formatMoment, locale } from '../shell/locale.ts';
import { useQuery } from '../shell/use-query.ts';
import type { Wording } from '../words/row-words.ts';
import { dismissConflict, restoreLost } from './actions.ts';
import { lossWords, ruleWords, valueWords } from './conflict-words.ts';
import { isRestorable, stateOf, wentWithRow, type Conflict } from './conflicts.ts';
import { useConflicts } from './use-conflicts.ts';
import { authorName } from './author-name.ts';

/**
 * The list of conflicts: the current value, the lost one, the reason, and buttons that restore the lost value or
 * dismiss the conflict. Conflicts that are no longer open are in a second list, which the user can expand.
 */
export function ConflictList({ budget, device }: { readonly budget: KnownBudget; readonly device: string }): ReactNode {
  const names = usePeopleNames(budget);
  const { open, settled, loading } = useConflicts();
  const [showsSettled, setShowsSettled] = useState(false);
  const { rows: categories } = useQuery<CategoryRow>(categoriesByName);
  const { rows: accounts } = useQuery<AccountRow>(accountsWithBalances);
  const wording: Wording = {
    locale,
    categoryNames: new Map(categories.map(({ id, name }) => [id, name])),
    accountNames: new Map(accounts.map(({ id, name }) => [id, name])),
    currency: accounts[0]?.currency ?? 'EUR',
  };
  const whoIs = (author: string): string =>
    authorName(author, { device, names, isMember: budget.membership !== undefined });
  if (loading) return null;
  const item = (conflict: Conflict): ReactNode => (
    <ConflictCard key={conflict.first.id} conflict={conflict} wording={wording} whoIs={whoIs} />
  );
  return (
    <section id="conflicts">
      <h2>Conflicts</h2>
      {open.length === 0 && (
        <p className="empty">
          No open conflicts. When two devices change the same thing before they sync, the later change wins and the
          other one is kept here.
        </p>
      )}
      <ul className="conflicts">{open.map(item)}</ul>
      {settled.length > 0 && (
        <>
          <button
            type="button"
            className="quiet"
            aria-expanded={showsSettled}
            onClick={() => setShowsSettled(!showsSettled)}
          >
            {showsSettled ? 'Hide' : 'Show'} resolved ({settled.length.toLocaleString(locale)})
          </button>
          {showsSettled && (
            <ul className="conflicts" aria-label="Resolved conflicts">
              {settled.map(item)}
            </ul>
          )}
        </>
      )}
    </section>
  );
}

interface ConflictCardProps {
  readonly conflict: Conflict;
  readonly wording: Wording;
  readonly whoIs: (author: string) => string;
}

const settledWords = { restored: 'Restored', changed: 'Changed since', dismissed: 'Dismissed' } as const;

function ConflictCard({ conflict, wording, whoIs }: ConflictCardProps): ReactNode {
  const client = useClient();
  const run = useAction();
  const mayWrite = useMayWrite();
  const state = stateOf(conflict);
  return (
    <li className={`card conflict conflict-${state}`}>
      <p className="conflict-what">
        <strong>{nameOf(conflict)}</strong>
        {conflict.first.rowDate !== null && `, ${formatDay(conflict.first.rowDate)}`} · {lossWords(conflict)}
        {state !== 'open' && <span className="conflict-state">{settledWords[state]}</span>}
      </p>
      <p>
        <Sentence conflict={conflict} wording={wording} whoIs={whoIs} />
      </p>
      <p className="hint">{ruleWords[conflict.first.rule]}</p>
      {mayWrite && state !== 'restored' && (
        <div className="buttons">
          {isRestorable(conflict) && (
            <button type="button" onClick={() => run(() => restoreLost(client, conflict), 'Restored.')}>
              {conflict.first.columnName === null
                ? 'Delete it anyway'
                : `Restore ${wentWithRow(conflict.first) ? 'it' : valueWords(conflict, 'lostValue', wording)}`}
            </button>
          )}
          {state === 'open' && (
            <button
              type="button"
              className="quiet"
              onClick={() => run(() => dismissConflict(client, conflict, Date.now()), 'Conflict dismissed.')}
            >
              Dismiss
            </button>
          )}
        </div>
      )}
    </li>
  );
}

function nameOf({ first }: Conflict): string {
  if (first.rowName === null) return 'Deleted item';
  return first.rowName === '' ? 'No payee' : first.rowName;
}

/** The event, its author and its time. */
function Sentence({ conflict, wording, whoIs }: ConflictCardProps): ReactNode {
  const { first } = conflict;
  const winner = whoIs(first.wonBy);
  const loser = whoIs(first.lostBy);
  const lostAt = formatMoment(first.lostAtMs);
  const lost = <b>{valueWords(conflict, 'lostValue', wording)}</b>;
  const isRestored = stateOf(conflict) === 'restored';
  if (first.columnName === null)
    return isRestored
      ? `Deleted, as ${loser} did first, ${lostAt}.`
      : `Deleted by ${loser}, ${lostAt}, while ${winner} changed it.`;
  if (wentWithRow(first)) {
    return isRestored ? (
      <>
        {lost} is back. It was lost because {winner} deleted the item it belonged to.
      </>
    ) : (
      <>
        {lost} from {loser}, {lostAt}, was lost because {winner} deleted the item it belonged to.
      </>
    );
  }
  const won = <b>{valueWords(conflict, 'wonValue', wording)}</b>;
  return isRestored ? (
    <>
      {lost} from {loser} is the current value again. It had been replaced by {won} from {winner}.
    </>
  ) : (
    <>
      {won} from {winner} replaced {lost} from {loser}, {lostAt}.
    </>
  );
}
