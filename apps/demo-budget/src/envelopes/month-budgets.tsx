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
import { closeForm } from '../shell/close-form.ts';
import { formatMonthInFull } from '../shell/locale.ts';
import { hashOf } from '../shell/navigation.ts';
import { useQuery, useSteadyQuery } from '../shell/use-query.ts';
import { assign } from './actions.ts';
import { GoalBelow, MoveBelow } from './envelope-forms.tsx';
import { EnvelopeRow, openerId, type EnvelopeMonth } from './envelope-row.tsx';
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

/** A form below an envelope. */
interface OpenForm {
  readonly categoryId: string;
  /** The month in which the form moves money; null for the form with the goal, which is the same in every month. */
  readonly month: string | null;
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
  // Several may be open: opening one must not discard what was typed into another.
  const [opened, setOpened] = useState<readonly OpenForm[]>([]);
  const open = (form: OpenForm): void =>
    setOpened((last) => (last.some((other) => isSameForm(other, form)) ? last : [...last, form]));
  const close = (form: OpenForm): void =>
    closeForm(
      () => setOpened((last) => last.filter((other) => !isSameForm(other, form))),
      openerId(form.categoryId, form.month),
    );
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
    envelope !== undefined &&
    (!envelope.hidden ||
      envelope.availableMinor !== 0n ||
      envelope.assignedMinor !== 0n ||
      opened.some(({ categoryId }) => categoryId === envelope.categoryId));
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
          onCover={(categoryId) => open({ categoryId, month })}
        />
      )}
      <EnvelopesTable
        currency={currency}
        plans={plans}
        envelopes={envelopes}
        goals={goals}
        opened={opened}
        onOpen={open}
        onClose={close}
      />
      <p className="page-foot">
        <a href={hashOf(budget, { page: 'categories' })}>{mayWrite ? 'Change categories' : 'Categories'}</a>
        {mayWrite && <FirstDayChoice />}
      </p>
    </>
  );
}

function isSameForm(a: OpenForm, b: OpenForm): boolean {
  return a.categoryId === b.categoryId && a.month === b.month;
}

function withTyped(
  typed: ReadonlyMap<string, string>,
  key: string,
  change: (last: string | null) => string | null,
): ReadonlyMap<string, string> {
  const next = new Map(typed);
  const text = change(typed.get(key) ?? null);
  if (text === null) next.delete(key);
  else next.set(key, text);
  return next;
}

interface EnvelopesTableProps {
  readonly currency: string;
  /** The months side by side; not empty. */
  readonly plans: readonly { readonly month: string; readonly plan: MonthBudget }[];
  /** The envelopes to show, in the first month. */
  readonly envelopes: readonly Envelope[];
  readonly goals: readonly GoalRow[];
  readonly opened: readonly OpenForm[];
  readonly onOpen: (form: OpenForm) => void;
  readonly onClose: (form: OpenForm) => void;
}

function EnvelopesTable({
  currency,
  plans,
  envelopes,
  goals,
  opened,
  onOpen,
  onClose,
}: EnvelopesTableProps): ReactNode {
  const client = useClient();
  const mayWrite = useMayWrite();
  // Amounts that are typed and not saved, by month and category. They stay while other months are shown.
  const [typed, setTyped] = useState<ReadonlyMap<string, string>>(new Map());
  const months = plans.map(({ month }) => month);
  const [month = ''] = months;
  const words = [...new Set([month, months.at(-1) ?? month])].map(formatMonthInFull).join(' to ');
  const wordsIn = (ofMonth: string): string => (plans.length === 1 ? '' : ` in ${formatMonthInFull(ofMonth)}`);
  const monthsOf = (envelope: Envelope): EnvelopeMonth[] =>
    plans.map((other) => ({
      month: other.month,
      inMonth: wordsIn(other.month),
      envelope: other.plan.envelopes.find(({ categoryId }) => categoryId === envelope.categoryId) ?? envelope,
    }));
  const goalOf = (envelope: Envelope): { goal: GoalRow; state: GoalState } | null => {
    const goal = goals.find(({ categoryId }) => categoryId === envelope.categoryId);
    return goal === undefined ? null : { goal, state: goalState(goal, envelope, month) };
  };
  const inMonth = (envelope: Envelope, ofMonth: string): Envelope =>
    monthsOf(envelope).find((other) => other.month === ofMonth)?.envelope ?? envelope;
  return (
    <table role="table" className="envelopes" data-months={months.length} aria-label={`Budget of ${words}`}>
      <TableHead months={months} />
      <tbody role="rowgroup">
        {envelopes.map((envelope, index) => (
          <Fragment key={envelope.categoryId}>
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
              typedIn={(ofMonth) => typed.get(`${ofMonth} ${envelope.categoryId}`) ?? null}
              onType={(ofMonth, change) =>
                setTyped((last) => withTyped(last, `${ofMonth} ${envelope.categoryId}`, change))
              }
              onAssign={(ofMonth, amountMinor) =>
                assign(client, [{ month: ofMonth, currency, categoryId: envelope.categoryId, amountMinor }])
              }
              goal={goalOf(envelope)}
              onMove={(ofMonth) => onOpen({ categoryId: envelope.categoryId, month: ofMonth })}
              onGoal={() => onOpen({ categoryId: envelope.categoryId, month: null })}
            />
            {mayWrite &&
              opened
                .filter(({ categoryId }) => categoryId === envelope.categoryId)
                .map((form) => (
                  // Hidden, not closed, while its month is not shown: the user may return to what was typed.
                  <tr
                    role="row"
                    key={form.month ?? 'goal'}
                    className="envelope-form"
                    hidden={form.month !== null && !months.includes(form.month)}
                  >
                    <td role="cell" colSpan={1 + 3 * months.length}>
                      {form.month === null ? (
                        <GoalBelow
                          envelope={envelope}
                          goal={goalOf(envelope)?.goal}
                          currency={currency}
                          month={month}
                          onClose={() => onClose(form)}
                        />
                      ) : (
                        <MoveBelow
                          envelope={inMonth(envelope, form.month)}
                          envelopes={envelopes.map((other) => inMonth(other, form.month ?? month))}
                          currency={currency}
                          month={form.month}
                          inMonth={wordsIn(form.month)}
                          onClose={() => onClose(form)}
                        />
                      )}
                    </td>
                  </tr>
                ))}
          </Fragment>
        ))}
      </tbody>
      <tfoot role="rowgroup">
        <SumRow name="Total" sums={plans.map((one) => ({ ...one.plan, month: one.month }))} currency={currency} />
      </tfoot>
    </table>
  );
}
