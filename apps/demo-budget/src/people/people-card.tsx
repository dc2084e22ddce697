import { useClient, usePresence, useSyncStatus } from '@rockpool/client/react';
import { useEffect, useState, type FormEvent, type ReactNode } from 'react';
import type { Budget } from '../budget/budget.ts';
import { withDeviceItems } from '../budget/device-items.ts';
import { useTask } from '../shell/failure.tsx';
import { locale } from '../shell/locale.ts';
import { reconnect } from '../sync/reconnect.ts';
import { timeAgo } from '../sync/status-sentence.ts';
import { useNow } from '../sync/use-now.ts';
import { initials, peopleOf } from './people.ts';
import { keepPersonName, personName } from './person-name.ts';

export interface PeopleCardProps {
  readonly budget: Budget;
  /** The principal that authors this device's changes; see budget/device.ts. */
  readonly device: string;
}

/** Other people who have the budget open now, and the name they see for this user. */
export function PeopleCard({ budget, device }: PeopleCardProps): ReactNode {
  const client = useClient();
  const run = useTask();
  const { state } = useSyncStatus();
  const people = peopleOf(usePresence(), device);
  const nowMs = useNow(30_000);
  const [name, setName] = useState('');
  const [kept, setKept] = useState(false);
  useEffect(() => {
    withDeviceItems(personName).then(
      (known) => setName((typed) => (typed === '' ? known : typed)),
      () => undefined,
    );
  }, []);

  const submit = (event: FormEvent): void => {
    event.preventDefault();
    run(async () => {
      await withDeviceItems((items) => keepPersonName(items, name));
      // Reconnects, because the name is part of the token, and each connection requests a token. A paused sync stays
      // paused; its next connection sends the name.
      if (state !== 'paused') await reconnect(client, budget.databaseId);
      setKept(true);
    });
  };

  return (
    <section className="card people-card">
      <h2>Online now</h2>
      {people.length === 0 ? (
        <p className="hint">Nobody else has this budget open right now.</p>
      ) : (
        <ul>
          {people.map((person) => (
            <li key={person.principal}>
              <span className="person" style={{ borderColor: person.color }} aria-hidden="true">
                {initials(person.name)}
              </span>
              <span>
                {person.name}{' '}
                <span className="hint">
                  {[person.page, `arrived ${timeAgo(person.sinceMs, nowMs, locale)}`]
                    .filter((words) => words !== '')
                    .join(' · ')}
                </span>
              </span>
            </li>
          ))}
        </ul>
      )}
      <form onSubmit={submit} aria-label="Your name">
        <label>
          The name that others see
          <input
            value={name}
            maxLength={40}
            autoComplete="name"
            onChange={(event) => {
              setName(event.target.value);
              setKept(false);
            }}
          />
        </label>
        <div className="buttons">
          <button type="submit">Save name</button>
          <span role="status" className="hint">
            {kept && 'Saved on this device.'}
          </span>
        </div>
      </form>
    </section>
  );
}
