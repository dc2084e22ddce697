import { useClient } from '@rockpool/client/react';
import type { ReactNode } from 'react';
import type { Budget } from '../budget/budget.ts';
import { useMayWrite } from '../budget/role.ts';
import { monthAfter } from '../calendar/months.ts';
import { Amount } from '../shell/amount.tsx';
import { useAction } from '../shell/failure.tsx';
import { formatMonthInFull } from '../shell/locale.ts';
import { hashOf } from '../shell/navigation.ts';
import { assign, type Assignment } from './actions.ts';
import type { MonthBudget } from './envelopes.ts';
import type { QuickAssignments } from './quick-assignments.ts';

export interface UnassignedCardProps {
  readonly budget: Budget;
  readonly currency: string;
  /** `YYYY-MM`. */
  readonly month: string;
  readonly plan: MonthBudget;
  /** The month's spending without a category. It reduces unassigned money. */
  readonly uncategorisedSpentMinor: bigint;
  readonly quick: QuickAssignments;
}

/** The unassigned money of a month, what reduced it, and ways to assign it to many envelopes at once. */
export function UnassignedCard({
  budget,
  currency,
  month,
  plan,
  uncategorisedSpentMinor,
  quick,
}: UnassignedCardProps): ReactNode {
  const client = useClient();
  const run = useAction();
  const mayWrite = useMayWrite();
  const monthBefore = formatMonthInFull(monthAfter(month, -1));
  const offers: readonly (readonly [label: string, assignments: readonly Assignment[], done: string])[] = [
    ['Fund goals', quick.goals, 'All goals are funded.'],
    ['Average of three months', quick.average, 'Assigned the average spending of three months.'],
    [`Copy from ${monthBefore}`, quick.likeLastMonth, `Copied assignments from ${monthBefore}.`],
  ];
  const shownOffers = mayWrite ? offers.filter(([, assignments]) => assignments.length > 0) : [];
  const { unassignedMinor } = plan;
  return (
    <div className={`card unassigned ${unassignedMinor < 0n ? 'too-much' : ''}`}>
      <p>
        <span className="unassigned-amount">
          <Amount minor={unassignedMinor < 0n ? -unassignedMinor : unassignedMinor} currency={currency} />
        </span>
        <span>{unassignedWords(plan)}</span>
      </p>
      {uncategorisedSpentMinor > 0n && (
        <p className="hint">
          <Amount minor={uncategorisedSpentMinor} currency={currency} /> of spending this month has no category and
          counts against this amount. <a href={hashOf(budget, { page: 'reports' })}>Show uncategorized spending</a>
        </p>
      )}
      {plan.overspentBeforeMinor > 0n && (
        <p className="hint">
          <Amount minor={plan.overspentBeforeMinor} currency={currency} /> of overspending in earlier months was covered
          from this amount.
        </p>
      )}
      {shownOffers.length > 0 && (
        <div className="buttons">
          {shownOffers.map(([label, assignments, done]) => (
            <button key={label} type="button" onClick={() => run(() => assign(client, assignments), done)}>
              {label}
            </button>
          ))}
        </div>
      )}
    </div>
  );
}

function unassignedWords({ unassignedMinor, assignedMinor }: MonthBudget): string {
  if (unassignedMinor >= 0n) return 'ready to assign';
  return assignedMinor > 0n ? 'more assigned than you have' : 'more spent than you have';
}
