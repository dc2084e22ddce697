import { useClient, usePresence } from '@rockpool/client/react';
import { useCallback, useEffect, useState, type ReactNode } from 'react';
import type { Budget, BudgetRole } from '../budget/budget.ts';
import { withDeviceItems } from '../budget/device-items.ts';
import { forgetBudget } from '../budget/known-budgets.ts';
import { useRole } from '../budget/role.ts';
import { errorSentence } from '../shell/error-sentence.ts';
import { useTask } from '../shell/failure.tsx';
import { useNow } from '../sync/use-now.ts';
import { fetchPeople, setRole, type Person } from './members.ts';
import { roleWords } from './role-words.ts';

/** The members of the budget, and the role of each. */
export function MembersCard({ budget }: { readonly budget: Budget }): ReactNode {
  const client = useClient();
  const run = useTask();
  const role = useRole();
  const [people, setPeople] = useState<readonly Person[] | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  // The member whose removal awaits confirmation, which may be this user.
  const [removing, setRemoving] = useState<string | null>(null);
  const load = useCallback(
    () =>
      fetchPeople(budget).then(
        (found) => {
          setPeople(found);
          setProblem(null);
        },
        (error: unknown) => setProblem(errorSentence(error)),
      ),
    [budget],
  );
  // The server does not announce that a member joined or left, so the list is reloaded at intervals and when the set of
  // people who are present changes.
  const present = usePresence()
    .map(({ principal }) => principal)
    .join(' ');
  const nowMs = useNow(10_000);
  useEffect(() => void load(), [load, present, nowMs]);

  const change = (person: Person, to: BudgetRole | null): void =>
    run(async () => {
      await setRole(budget, person.principal, to);
      await load();
    });
  const leave = (person: Person): void =>
    run(async () => {
      // Deletes from this device first, because that step fails while changes are unsent.
      await client.leave();
      await setRole(budget, person.principal, null);
      await withDeviceItems((items) => forgetBudget(items, budget));
      location.assign(location.pathname);
    });

  return (
    <section className="card form">
      <h2>Members</h2>
      {problem !== null && <p className="hint">{problem}</p>}
      {people?.length === 0 && <p className="hint">No other members.</p>}
      {people !== null && people.length > 0 && (
        <ul className="members">
          {people.map((person) => (
            <li key={person.principal}>
              <span>
                {person.name} {person.self && <span className="hint">(you)</span>}
              </span>
              {role === 'owner' ? (
                <select
                  aria-label={`Role of ${person.name}`}
                  value={person.role}
                  onChange={(event) => change(person, event.target.value as BudgetRole)}
                >
                  {Object.entries(roleWords).map(([value, { title }]) => (
                    <option key={value} value={value}>
                      {title}
                    </option>
                  ))}
                </select>
              ) : (
                <span className="hint">{roleWords[person.role].title}</span>
              )}
              {(person.self || role === 'owner') &&
                (removing === person.principal ? (
                  <span className="buttons" role="group" aria-label={`${goneWords(person)}?`}>
                    <button
                      type="button"
                      className="danger"
                      autoFocus
                      onClick={() => {
                        setRemoving(null);
                        if (person.self) leave(person);
                        else change(person, null);
                      }}
                    >
                      {goneWords(person)}
                    </button>
                    <button type="button" className="quiet" onClick={() => setRemoving(null)}>
                      Cancel
                    </button>
                  </span>
                ) : (
                  <button
                    type="button"
                    className="quiet"
                    onClick={() => setRemoving(person.principal)}
                    aria-label={`${goneWords(person)} …`}
                  >
                    {person.self ? 'Leave this budget …' : 'Remove …'}
                  </button>
                ))}
            </li>
          ))}
        </ul>
      )}
      <p className="hint">Removed members keep the data on their devices but no longer sync.</p>
    </section>
  );
}

function goneWords({ name, self }: Person): string {
  return self ? 'Leave this budget' : `Remove ${name}`;
}
