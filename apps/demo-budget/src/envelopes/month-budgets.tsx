import { useClient } from '@rockpool/client/react';
import { Fragment, useMemo, useState, type ReactNode } from 'react';
import type { Budget } from '../budget/budget.ts';
import { useMayWrite } from '../budget/role.ts';
import { monthAfter, monthsUpTo } from '../calendar/months.ts';
import { goalState, type GoalState } from '../goals/goal-state.ts';
import { categoriesByName, type CategoryRow } from '../queries/categories.ts';
import {
  activityByMonth,
  assignedByMonth,
  uncategorisedSpending,
  type ActivityRow,
  type AssignedRow,
  type UncategorisedSpendingRow,
} from '../queries/envelopes.ts';
import { goalsInCurrency, type GoalRow } from '../queries/goals.ts';
import { formatMonthInFull } from '../shell/locale.ts';
import { hashOf } from '../shell/navigation.ts';
import { useQuery, useSteadyQuery } from '../shell/use-query.ts';
import { assign } from './actions.ts';
import { GoalBelow, MoveBelow } from './envelope-forms.tsx';
import { EnvelopeRow, type EnvelopeMonth } from './envelope-row.tsx';
import { monthBudget, type Envelope, type MonthBudget } from './envelopes.ts';
import { FirstDayChoice } from './first-day-choice.tsx';
import { MonthEnd } from './month-end.tsx';
import { quickAssignments } from './quick-assignments.ts';
import { SumRow, sumsOf, TableHead } from './sum-rows.tsx';
import { UnassignedCard } from './unassigned-card.tsx';

export interface MonthBudgetsProps {
  readonly budget: Budget;
  readonly currency: string;
  /** The first of the months side by side. */
  readonly month: string;
  readonly monthCount: number;
  readonly openingMinor: bigint;
}

/** The form below an envelope; one at a time. */
interface OpenForm {
  readonly form: 'move' | 'goal';
  readonly categoryId: string;
  readonly month: string;
}

/** The budgets of one or more months in one currency: unassigned money, then a row per envelope. */
export function MonthBudgets({ budget, currency, month, monthCount, openingMinor }: MonthBudgetsProps): ReactNode {
  const mayWrite = useMayWrite();
  const { rows: categories } = useQuery<CategoryRow>(categoriesByName);
  const lastMonth = monthAfter(month, monthCount - 1);
  const assigned = useSteadyQuery<AssignedRow>(assignedByMonth, [currency, lastMonth]);
  const activity = useSteadyQuery<ActivityRow>(activityByMonth, [currency, lastMonth]);
  const uncategorised = useSteadyQuery<UncategorisedSpendingRow>(uncategorisedSpending, [currency, month]);
  const uncategorisedSpentMinor = BigInt(uncategorised.rows[0]?.spentMinor ?? 0);
  const { rows: goals } = useQuery<GoalRow>(goalsInCurrency, [currency]);
  const [opened, setOpened] = useState<OpenForm | null>(null);
  const plans = useMemo(
    () =>
      monthsUpTo(lastMonth, monthCount).map((shownMonth) => ({
        month: shownMonth,
        plan: monthBudget({
          month: shownMonth,
          categories,
          assigned: assigned.rows,
          activity: activity.rows,
          openingMinor,
        }),
      })),
    [activity.rows, assigned.rows, categories, lastMonth, monthCount, openingMinor],
  );
  const plan = plans[0]?.plan;
  if (assigned.loading || activity.loading || uncategorised.loading || plan === undefined) return null;

  const isShown = (envelope: Envelope | undefined): boolean =>
    envelope !== undefined && (!envelope.hidden || envelope.availableMinor !== 0n || envelope.assignedMinor !== 0n);
  // Every month has the same envelopes, in the same order.
  const envelopes = plan.envelopes.filter((_, index) => plans.some((other) => isShown(other.plan.envelopes[index])));
  const quick = quickAssignments({
    month,
    currency,
    envelopes,
    assigned: assigned.rows,
    activity: activity.rows,
    goals,
  });
  return (
    <>
      <UnassignedCard
        budget={budget}
        currency={currency}
        month={month}
        plan={plan}
        uncategorisedSpentMinor={uncategorisedSpentMinor}
        quick={quick}
      />
      {mayWrite && (
        <MonthEnd
          budget={budget}
          currency={currency}
          plan={plan}
          uncategorisedSpentMinor={uncategorisedSpentMinor}
          onCover={(categoryId) => setOpened({ form: 'move', categoryId, month })}
        />
      )}
      <EnvelopesTable
        currency={currency}
        plans={plans}
        envelopes={envelopes}
        goals={goals}
        opened={opened}
        onOpen={setOpened}
      />
      <p className="page-foot">
        <a href={hashOf(budget, { page: 'categories' })}>{mayWrite ? 'Change categories' : 'Categories'}</a>
        {mayWrite && <FirstDayChoice />}
      </p>
    </>
  );
}

interface EnvelopesTableProps {
  readonly currency: string;
  /** The months side by side; not empty. */
  readonly plans: readonly { readonly month: string; readonly plan: MonthBudget }[];
  /** The envelopes to show, in the first month. */
  readonly envelopes: readonly Envelope[];
  readonly goals: readonly GoalRow[];
  readonly opened: OpenForm | null;
  readonly onOpen: (opened: OpenForm | null) => void;
}

function EnvelopesTable({ currency, plans, envelopes, goals, opened, onOpen }: EnvelopesTableProps): ReactNode {
  const client = useClient();
  const mayWrite = useMayWrite();
  const months = plans.map(({ month }) => month);
  const [month = ''] = months;
  const words = [...new Set([month, months.at(-1) ?? month])].map(formatMonthInFull).join(' to ');
  const monthsOf = (envelope: Envelope): EnvelopeMonth[] =>
    plans.map((other) => ({
      month: other.month,
      inMonth: plans.length === 1 ? '' : ` in ${formatMonthInFull(other.month)}`,
      envelope: other.plan.envelopes.find(({ categoryId }) => categoryId === envelope.categoryId) ?? envelope,
    }));
  const goalOf = (envelope: Envelope): { goal: GoalRow; state: GoalState } | null => {
    const goal = goals.find(({ categoryId }) => categoryId === envelope.categoryId);
    return goal === undefined ? null : { goal, state: goalState(goal, envelope, month) };
  };
  const inOpenMonth = (envelope: Envelope): Envelope =>
    monthsOf(envelope).find((other) => other.month === opened?.month)?.envelope ?? envelope;
  const close = (): void => onOpen(null);
  return (
    <table role="table" className="envelopes" data-months={months.length} aria-label={`Budget of ${words}`}>
      <TableHead months={months} />
      <tbody role="rowgroup">
        {envelopes.map((envelope, index) => (
          <Fragment key={`${month} ${envelope.categoryId}`}>
            {envelope.groupName !== '' && envelopes[index - 1]?.groupName !== envelope.groupName && (
              <SumRow
                name={envelope.groupName}
                className="envelope-group"
                sums={sumsOf(envelopes.filter(({ groupName }) => groupName === envelope.groupName).map(monthsOf))}
                currency={currency}
              />
            )}
            <EnvelopeRow
              months={monthsOf(envelope)}
              currency={currency}
              onAssign={(ofMonth, amountMinor) =>
                assign(client, [{ month: ofMonth, currency, categoryId: envelope.categoryId, amountMinor }])
              }
              goal={goalOf(envelope)}
              onMove={(ofMonth) => onOpen({ form: 'move', categoryId: envelope.categoryId, month: ofMonth })}
              onGoal={() => onOpen({ form: 'goal', categoryId: envelope.categoryId, month })}
            />
            {mayWrite && opened?.categoryId === envelope.categoryId && (
              <tr role="row" className="envelope-form">
                <td role="cell" colSpan={1 + 3 * months.length}>
                  {opened.form === 'goal' ? (
                    <GoalBelow
                      envelope={envelope}
                      goal={goalOf(envelope)?.goal}
                      currency={currency}
                      month={month}
                      onClose={close}
                    />
                  ) : (
                    <MoveBelow
                      key={opened.month}
                      envelope={inOpenMonth(envelope)}
                      envelopes={envelopes.map(inOpenMonth)}
                      currency={currency}
                      month={opened.month}
                      onClose={close}
                    />
                  )}
                </td>
              </tr>
            )}
          </Fragment>
        ))}
      </tbody>
      <tfoot role="rowgroup">
        <SumRow name="Total" sums={plans.map((one) => ({ ...one.plan, month: one.month }))} currency={currency} />
      </tfoot>
    </table>
  );
}
