import { useEffect, useState, type ReactNode } from 'react';
import { withDeviceItems } from '../budget/device-items.ts';
import { addBudget, knownBudgets, type KnownBudget } from '../budget/known-budgets.ts';
import { useRole } from '../budget/role.ts';
import { PeopleCard } from '../people/people-card.tsx';
import { useTask } from '../shell/failure.tsx';
import { useSettings } from '../settings/use-settings.ts';
import { hashOf } from '../shell/navigation.ts';
import { BudgetName } from './budget-name.tsx';
import { CopyLink } from './copy-link.tsx';
import { InviteCard } from './invite-card.tsx';
import { MembersCard } from './members-card.tsx';
import { formatShortId } from './short-id.ts';

/** Members, invitations, and the other budgets on this device. */
export function ShareView({ budget, device }: { readonly budget: KnownBudget; readonly device: string }): ReactNode {
  const link = `${location.origin}${location.pathname}${hashOf(budget)}`;
  const role = useRole();
  const { name } = useSettings();
  const run = useTask();
  const [known, setKnown] = useState<readonly KnownBudget[]>([]);
  useEffect(() => {
    withDeviceItems(knownBudgets).then(setKnown, () => setKnown([]));
  }, []);
  const others = known.filter((other) => other.databaseId !== budget.databaseId);
  return (
    <>
      <h1>Share</h1>
      <BudgetName />
      {role === 'owner' && <InviteCard budget={budget} />}
      <MembersCard budget={budget} />
      <section className="card form">
        <h2>Your other devices</h2>
        <p>
          {role === 'owner'
            ? 'Anyone with this link owns the budget and cannot be removed. Share it only with people you fully trust.'
            : 'This is your personal link. It opens the budget with your role on any device.'}
        </p>
        <CopyLink label="Share link" link={link} hint="Open it on your other devices." />
      </section>
      <PeopleCard budget={budget} device={device} />
      <section>
        <h2>Budgets on this device</h2>
        <ul className="budgets">
          <li>
            {nameOfBudget(budget, name)} <span className="hint">open now</span>
          </li>
          {others.map((other) => (
            <li key={other.databaseId}>
              <a href={hashOf(other)}>{nameOfBudget(other, other.name ?? '')}</a>{' '}
              <span className="hint">
                {other.isSample === true
                  ? 'a sample'
                  : other.madeHere
                    ? 'created here'
                    : other.membership === undefined
                      ? 'opened by link'
                      : 'shared with you'}
              </span>
            </li>
          ))}
        </ul>
        <button
          type="button"
          onClick={() =>
            run(async () => {
              location.hash = hashOf(await withDeviceItems(addBudget));
            })
          }
        >
          New budget
        </button>
      </section>
    </>
  );
}

/** A budget without a name can be distinguished only by its id. */
function nameOfBudget({ databaseId, isSample }: Pick<KnownBudget, 'databaseId' | 'isSample'>, name: string): string {
  return name || (isSample === true ? 'Sample budget' : `Unnamed budget ${formatShortId(databaseId)}`);
}
