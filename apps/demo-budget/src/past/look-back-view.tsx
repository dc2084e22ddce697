import type { ReactNode } from 'react';
import type { Budget } from '../budget/budget.ts';
import { useRole } from '../budget/role.ts';
import { useToday, useView } from '../budget/view.ts';
import { hashOf } from '../shell/navigation.ts';
import { DayForm } from './day-form.tsx';

/** The ways to view the budget of a past day and the deleted entries. */
export default function LookBackView({ budget }: { readonly budget: Budget }): ReactNode {
  const role = useRole();
  const view = useView();
  const day = useToday();
  return (
    <>
      <h1>Look back</h1>
      {role === 'viewer' ? (
        <p className="empty">Viewers see only today’s budget. To see how it was before, ask an owner for access.</p>
      ) : (
        <>
          <section className="card form" aria-label="The budget on a past day">
            <h2>The budget on a past day</h2>
            <p>
              See the accounts, the budget and the entries as they were in this app on that day. Looking changes
              nothing.
            </p>
            <DayForm key={day} budget={budget} day={view === 'today' ? firstOfMonth(day) : day} />
          </section>
          <section className="card form" aria-label="Changes and deletions">
            <h2>Changes and deletions</h2>
            <p>
              To see who changed an entry, or to restore an earlier version, open the entry and choose History. Entries
              that were deleted are in a list of their own.
            </p>
            <p>
              <a href={hashOf(budget, { page: 'deleted', view: 'today' })}>Deleted entries</a>
            </p>
          </section>
        </>
      )}
    </>
  );
}

function firstOfMonth(day: string): string {
  return `${day.slice(0, 8)}01`;
}
