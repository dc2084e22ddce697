import type { ReactNode } from 'react';
import type { Budget } from '../budget/budget.ts';
import { accountsToReconcile, type AccountToReconcileRow } from '../queries/accounts.ts';
import { Amount } from '../shell/amount.tsx';
import { hashOf } from '../shell/navigation.ts';
import { useQuery } from '../shell/use-query.ts';
import type { MonthBudget } from './envelopes.ts';

export interface MonthEndProps {
  readonly budget: Budget;
  readonly currency: string;
  readonly plan: MonthBudget;
  readonly uncategorisedSpentMinor: bigint;
  /** Opens the form that covers an envelope. */
  readonly onCover: (categoryId: string) => void;
}

interface Step {
  readonly title: string;
  readonly isDone: boolean;
  readonly words: ReactNode;
}

/** The four steps that close a month, each with the remaining work and a link to the page for it. */
export function MonthEnd({ budget, currency, plan, uncategorisedSpentMinor, onCover }: MonthEndProps): ReactNode {
  const { rows: accounts } = useQuery<AccountToReconcileRow>(accountsToReconcile, [currency]);
  const overspent = plan.envelopes.filter(
    ({ availableMinor, keepsOverspent }) => availableMinor < 0n && !keepsOverspent,
  );
  const steps: readonly Step[] = [
    {
      title: 'Reconcile',
      isDone: accounts.length === 0,
      words:
        accounts.length === 0
          ? 'Every cleared entry is reconciled.'
          : accounts.map(({ id, name }) => (
              <a key={id} href={hashOf(budget, { page: 'entries', accountId: id })}>
                {name}
              </a>
            )),
    },
    {
      title: 'Categorize',
      isDone: uncategorisedSpentMinor === 0n,
      words:
        uncategorisedSpentMinor === 0n ? (
          'All spending of the month has a category.'
        ) : (
          <a href={hashOf(budget, { page: 'reports' })}>
            <Amount minor={uncategorisedSpentMinor} currency={currency} /> without a category
          </a>
        ),
    },
    {
      title: 'Cover',
      isDone: overspent.length === 0,
      words:
        overspent.length === 0
          ? 'No envelope is overspent.'
          : overspent.map(({ categoryId, name }) => (
              <button key={categoryId} type="button" className="quiet" onClick={() => onCover(categoryId)}>
                Cover {name}
              </button>
            )),
    },
    {
      title: 'Assign',
      isDone: plan.unassignedMinor === 0n,
      words:
        plan.unassignedMinor === 0n ? (
          'All money has an envelope.'
        ) : plan.unassignedMinor > 0n ? (
          <span>
            <Amount minor={plan.unassignedMinor} currency={currency} /> left to assign
          </span>
        ) : (
          <span>
            <Amount minor={-plan.unassignedMinor} currency={currency} /> too much is assigned
          </span>
        ),
    },
  ];
  const doneCount = steps.filter(({ isDone }) => isDone).length;
  return (
    <details className="card month-end">
      <summary>
        Month-end walk: {doneCount} of {steps.length} done
      </summary>
      <ol>
        {steps.map(({ title, isDone, words }) => (
          <li key={title} className={isDone ? 'done' : ''}>
            <strong>
              {isDone ? '✓ ' : ''}
              {title}
            </strong>
            <span className="month-end-words">{words}</span>
          </li>
        ))}
      </ol>
    </details>
  );
}
