import { useClient } from '@rockpool/client/react';
import { Fragment, lazy, Suspense, useMemo, useState, type ReactNode } from 'react';
import type { Budget } from '../budget/budget.ts';
import { useMayWrite } from '../budget/role.ts';
import { useToday, useView } from '../budget/view.ts';
import { daysOfMonth, monthAfter, monthOfDay, monthsUpTo } from '../calendar/months.ts';
import { setCategoryNote, setKeepsOverspent } from '../categories/actions.ts';
import { removeGoal, setGoal } from '../goals/actions.ts';
import { GoalForm } from '../goals/goal-form.tsx';
import { goalState, type GoalState } from '../goals/goal-state.ts';
import { minorDigits } from '../money/currency.ts';
import { currenciesOfAccounts, type CurrencyRow } from '../queries/accounts.ts';
import { categoriesByName, type CategoryRow } from '../queries/categories.ts';
import { activityByMonth, assignedByMonth, type ActivityRow, type AssignedRow } from '../queries/envelopes.ts';
import { goalsInCurrency, type GoalRow } from '../queries/goals.ts';
import { useSettings } from '../settings/use-settings.ts';
import { Amount } from '../shell/amount.tsx';
import { CurrencyChoice, useCurrency } from '../shell/currency-choice.tsx';
import { useAction, useSave } from '../shell/failure.tsx';
import { formatDay, formatMonthInFull } from '../shell/locale.ts';
import { hashOf } from '../shell/navigation.ts';
import { NoAccountYet } from '../shell/no-account-yet.tsx';
import { useQuery, useSteadyQuery } from '../shell/use-query.ts';
import { assign, assignAll, move } from './actions.ts';
import { EnvelopeNote } from './envelope-note.tsx';
import { EnvelopeRow, type EnvelopeMonth } from './envelope-row.tsx';
import { FirstDayChoice } from './first-day-choice.tsx';
import { monthBudget, type Envelope, type MonthBudget } from './envelopes.ts';
import { MonthEnd } from './month-end.tsx';
import { MoveForm } from './move-form.tsx';

const CategoryHistory = lazy(() => import('../history/category-history.tsx'));

/** The budget of a month: how much each category may spend. One currency at a time. */
export function EnvelopesView({ budget }: { readonly budget: Budget }): ReactNode {
  const currencies = useQuery<CurrencyRow>(currenciesOfAccounts);
  const [currency, choice] = useCurrency(currencies.rows);
  const { firstDay } = useSettings();
  const [chosenMonth, setMonth] = useState<string | null>(null);
  const thisMonth = monthOfDay(useToday(), firstDay);
  // A what-if is a plan for the month to come.
  const month = chosenMonth ?? (useView() === 'what-if' ? monthAfter(thisMonth, 1) : thisMonth);
  const days = daysOfMonth(month, firstDay);
  const [monthCount, setMonthCount] = useState(1);
  const openingMinor = BigInt(currencies.rows.find((row) => row.currency === currency)?.openingMinor ?? 0);
  return (
    <>
      <header className="page-head">
        <h1>Budget</h1>
        <CurrencyChoice {...choice} />
      </header>
      <div className="month-choice" role="group" aria-label="Month">
        <button type="button" onClick={() => setMonth(monthAfter(month, -1))} aria-label="Previous month">
          ‹
        </button>
        <strong aria-live="polite">{formatMonthInFull(month)}</strong>
        <button type="button" onClick={() => setMonth(monthAfter(month, 1))} aria-label="Next month">
          ›
        </button>
        {firstDay !== 1 && (
          <span className="hint">
            {formatDay(days.first)} to {formatDay(days.last)}
          </span>
        )}
        <label className="inline month-count">
          Months
          <select value={monthCount} onChange={(event) => setMonthCount(Number(event.target.value))}>
            {monthCounts.map((count) => (
              <option key={count}>{count}</option>
            ))}
          </select>
        </label>
      </div>
      {currency !== undefined && (
        <MonthOf
          key={currency}
          budget={budget}
          currency={currency}
          month={month}
          monthCount={monthCount}
          openingMinor={openingMinor}
        />
      )}
      {!currencies.loading && currency === undefined && (
        <NoAccountYet budget={budget}>No money to budget yet.</NoAccountYet>
      )}
    </>
  );
}

/** How many months fit side by side on wide screens. */
const monthCounts: readonly number[] = [1, 2, 3, 4];

interface MonthOfProps {
  readonly budget: Budget;
  readonly currency: string;
  /** The first of the months side by side. */
  readonly month: string;
  readonly monthCount: number;
  readonly openingMinor: bigint;
}

function MonthOf({ budget, currency, month, monthCount, openingMinor }: MonthOfProps): ReactNode {
  const client = useClient();
  const run = useAction();
  const save = useSave();
  const mayWrite = useMayWrite();
  const { rows: categories } = useQuery<CategoryRow>(categoriesByName);
  const lastMonth = monthAfter(month, monthCount - 1);
  const assigned = useSteadyQuery<AssignedRow>(assignedByMonth, [currency, lastMonth]);
  const activity = useSteadyQuery<ActivityRow>(activityByMonth, [currency, lastMonth]);
  const { rows: goals } = useQuery<GoalRow>(goalsInCurrency, [currency]);
  // One form at a time, below its row.
  const [opened, setOpened] = useState<{
    readonly form: 'move' | 'goal';
    readonly categoryId: string;
    readonly month: string;
  } | null>(null);
  const view = useView();
  const [recalling, setRecalling] = useState(false);
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
  if (assigned.loading || activity.loading || plan === undefined) return null;

  const isShown = (envelope: Envelope | undefined): boolean =>
    envelope !== undefined && (!envelope.hidden || envelope.availableMinor !== 0n || envelope.assignedMinor !== 0n);
  // Every month has the same envelopes, in the same order.
  const shown = plan.envelopes.filter((_, index) => plans.some((other) => isShown(other.plan.envelopes[index])));
  const monthsOf = (envelope: Envelope): EnvelopeMonth[] =>
    plans.map((other) => ({
      month: other.month,
      inMonth: monthCount === 1 ? '' : ` in ${formatMonthInFull(other.month)}`,
      envelope: other.plan.envelopes.find(({ categoryId }) => categoryId === envelope.categoryId) ?? envelope,
    }));
  const monthBefore = monthAfter(month, -1);
  const likeLastMonth = shown.flatMap(({ categoryId, assignedMinor }) => {
    const before = assigned.rows.find((row) => row.month === monthBefore && row.categoryId === categoryId);
    return before === undefined || assignedMinor !== 0n
      ? []
      : [{ month, currency, categoryId, amountMinor: Number(before.assignedMinor) }];
  });
  const goalOf = (envelope: Envelope): { goal: GoalRow; state: GoalState } | null => {
    const goal = goals.find(({ categoryId }) => categoryId === envelope.categoryId);
    return goal === undefined ? null : { goal, state: goalState(goal, envelope, month) };
  };
  const forGoals = shown.flatMap((envelope) => {
    const neededMinor = goalOf(envelope)?.state.neededMinor ?? 0n;
    return neededMinor === 0n
      ? []
      : [{ month, currency, categoryId: envelope.categoryId, amountMinor: Number(neededMinor) }];
  });
  const threeBefore = [-1, -2, -3].map((offset) => monthAfter(month, offset));
  const likeAverage = shown.flatMap(({ categoryId, assignedMinor }) => {
    const spentMinor = activity.rows
      .filter((row) => row.categoryId === categoryId && threeBefore.includes(row.month))
      .reduce((sum, { changeMinor }) => sum - BigInt(changeMinor), 0n);
    // Whole units: nobody budgets the cents of an average.
    const unit = 10n ** BigInt(minorDigits(currency));
    const averageMinor = ((spentMinor / 3n + unit / 2n) / unit) * unit;
    return assignedMinor !== 0n || averageMinor <= 0n
      ? []
      : [{ month, currency, categoryId, amountMinor: Number(averageMinor) }];
  });
  const close = (): void => setOpened(null);
  const moveForm = ({ month: ofMonth, envelope }: EnvelopeMonth): ReactNode => (
    <MoveForm
      key={ofMonth}
      envelope={envelope}
      envelopes={shown.map((one) => monthsOf(one).find((other) => other.month === ofMonth)?.envelope ?? one)}
      currency={currency}
      onMove={(fromCategoryId, toCategoryId, amountMinor) =>
        save(
          () => move(client, { month: ofMonth, currency, categoryId: fromCategoryId, amountMinor }, toCategoryId),
          'Moved.',
          close,
        )
      }
      onKeepOverspent={() =>
        save(
          () => setKeepsOverspent(client, envelope.categoryId, !envelope.keepsOverspent),
          envelope.keepsOverspent
            ? `${envelope.name}: overspending is covered at the end of the month.`
            : `${envelope.name}: overspending carries over.`,
          close,
        )
      }
      onCancel={close}
    />
  );
  const goalForm = ({ categoryId, name, note }: Envelope): ReactNode => (
    <>
      <EnvelopeNote
        name={name}
        note={note}
        onNote={(next) => run(() => setCategoryNote(client, categoryId, next), 'Note saved.')}
      />
      <GoalForm
        categoryName={name}
        goal={goals.find((goal) => goal.categoryId === categoryId)}
        currency={currency}
        month={month}
        onSave={(goal) => save(() => setGoal(client, { ...goal, currency, categoryId }), 'Goal saved.', close)}
        onRemove={() => save(() => removeGoal(client, categoryId, currency), 'Goal removed.', close)}
        onCancel={close}
      />
      {view === 'today' && (
        <details className="envelope-history" onToggle={({ currentTarget }) => setRecalling(currentTarget.open)}>
          <summary>History of {name}</summary>
          {recalling && (
            <Suspense>
              <CategoryHistory categoryId={categoryId} name={name} currency={currency} />
            </Suspense>
          )}
        </details>
      )}
    </>
  );

  return (
    <>
      <div className={`card unassigned ${plan.unassignedMinor < 0n ? 'too-much' : ''}`}>
        <p>
          <span className="unassigned-amount">
            <Amount
              minor={plan.unassignedMinor < 0n ? -plan.unassignedMinor : plan.unassignedMinor}
              currency={currency}
            />
          </span>
          <span>{unassignedWords(plan)}</span>
        </p>
        {plan.uncategorisedSpentMinor > 0n && (
          <p className="hint">
            <Amount minor={plan.uncategorisedSpentMinor} currency={currency} /> of spending this month has no category
            and counts against this amount.{' '}
            <a href={hashOf(budget, { page: 'reports' })}>Show uncategorized spending</a>
          </p>
        )}
        {plan.overspentBeforeMinor > 0n && (
          <p className="hint">
            <Amount minor={plan.overspentBeforeMinor} currency={currency} /> of overspending in earlier months was
            covered from this amount.
          </p>
        )}
        {mayWrite && likeLastMonth.length + forGoals.length + likeAverage.length > 0 && (
          <div className="buttons">
            {forGoals.length > 0 && (
              <button type="button" onClick={() => run(() => assignAll(client, forGoals), 'All goals are funded.')}>
                Fund goals
              </button>
            )}
            {likeAverage.length > 0 && (
              <button
                type="button"
                onClick={() =>
                  run(() => assignAll(client, likeAverage), 'Assigned the average spending of three months.')
                }
              >
                Average of three months
              </button>
            )}
            {likeLastMonth.length > 0 && (
              <button
                type="button"
                onClick={() =>
                  run(
                    () => assignAll(client, likeLastMonth),
                    `Copied assignments from ${formatMonthInFull(monthBefore)}.`,
                  )
                }
              >
                Copy from {formatMonthInFull(monthBefore)}
              </button>
            )}
          </div>
        )}
      </div>
      {mayWrite && (
        <MonthEnd
          budget={budget}
          currency={currency}
          plan={plan}
          onCover={(categoryId) => setOpened({ form: 'move', categoryId, month })}
        />
      )}
      <table
        role="table"
        className="envelopes"
        data-months={monthCount}
        aria-label={`Budget of ${formatMonthInFull(month)}${monthCount === 1 ? '' : ` to ${formatMonthInFull(lastMonth)}`}`}
      >
        <TableHead months={plans.map((one) => one.month)} />
        <tbody role="rowgroup">
          {shown.map((envelope, index) => (
            <Fragment key={`${month} ${envelope.categoryId}`}>
              {envelope.groupName !== '' && shown[index - 1]?.groupName !== envelope.groupName && (
                <SumRow
                  name={envelope.groupName}
                  className="envelope-group"
                  sums={sumsOf(shown.filter(({ groupName }) => groupName === envelope.groupName).map(monthsOf))}
                  currency={currency}
                />
              )}
              <EnvelopeRow
                months={monthsOf(envelope)}
                currency={currency}
                onAssign={(ofMonth, amountMinor) =>
                  assign(client, { month: ofMonth, currency, categoryId: envelope.categoryId, amountMinor })
                }
                goal={goalOf(envelope)}
                onMove={(ofMonth) => setOpened({ form: 'move', categoryId: envelope.categoryId, month: ofMonth })}
                onGoal={() => setOpened({ form: 'goal', categoryId: envelope.categoryId, month })}
              />
              {mayWrite && opened?.categoryId === envelope.categoryId && (
                <tr role="row" className="envelope-form">
                  <td role="cell" colSpan={1 + 3 * monthCount}>
                    {opened.form === 'goal'
                      ? goalForm(envelope)
                      : monthsOf(envelope)
                          .filter((one) => one.month === opened.month)
                          .map(moveForm)}
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
      <p className="page-foot">
        <a href={hashOf(budget, { page: 'categories' })}>{mayWrite ? 'Change categories' : 'Categories'}</a>
        {mayWrite && <FirstDayChoice />}
      </p>
    </>
  );
}

/** The columns of each month. Several months have a line of their names above. */
function TableHead({ months }: { readonly months: readonly string[] }): ReactNode {
  const columns = ['Assigned', 'Spent', 'Available'];
  return (
    <thead role="rowgroup">
      {months.length > 1 && (
        <tr role="row">
          <td role="cell" />
          {months.map((month, index) => (
            <th
              key={month}
              role="columnheader"
              scope="colgroup"
              colSpan={3}
              className={`number month-start${index === 0 ? '' : ' later-month'}`}
            >
              {formatMonthInFull(month)}
            </th>
          ))}
        </tr>
      )}
      <tr role="row">
        <th role="columnheader" scope="col">
          Category
        </th>
        {months.map((month, index) =>
          columns.map((word) => (
            <th
              key={`${month} ${word}`}
              role="columnheader"
              scope="col"
              className={`number${word === 'Assigned' ? ' month-start' : ''}${index === 0 ? '' : ' later-month'}`}
            >
              {word}
            </th>
          )),
        )}
      </tr>
    </thead>
  );
}

/** The sums of several envelopes in one month. */
interface MonthSums extends Pick<MonthBudget, 'assignedMinor' | 'spentMinor' | 'availableMinor'> {
  readonly month: string;
}

/** @param rows the envelopes, each with all months */
function sumsOf(rows: readonly (readonly EnvelopeMonth[])[]): MonthSums[] {
  return (rows[0] ?? []).map(({ month }, index) => {
    const total = (minorOf: (envelope: Envelope) => bigint): bigint =>
      rows.reduce((sum, months) => sum + (months[index] === undefined ? 0n : minorOf(months[index].envelope)), 0n);
    return {
      month,
      assignedMinor: total(({ assignedMinor }) => assignedMinor),
      spentMinor: total(({ spentMinor }) => spentMinor),
      availableMinor: total(({ availableMinor }) => availableMinor),
    };
  });
}

interface SumRowProps {
  readonly name: string;
  readonly className?: string;
  readonly sums: readonly MonthSums[];
  readonly currency: string;
}

/** The heading of a group with its totals, or the totals of all envelopes. */
function SumRow({ name, className, sums, currency }: SumRowProps): ReactNode {
  return (
    <tr role="row" className={className}>
      <th role="rowheader" scope={className === undefined ? 'row' : 'rowgroup'}>
        {name}
      </th>
      {sums.map(({ month, assignedMinor, spentMinor, availableMinor }, index) =>
        (
          [
            ['Assigned', assignedMinor],
            ['Spent', spentMinor],
            ['Available', availableMinor],
          ] as const
        ).map(([word, minor]) => (
          <td
            key={`${month} ${word}`}
            role="cell"
            data-of={word}
            className={`number${word === 'Assigned' ? ' month-start' : ''}${index === 0 ? '' : ' later-month'}`}
          >
            <Amount minor={minor} currency={currency} />
          </td>
        )),
      )}
    </tr>
  );
}

function unassignedWords({ unassignedMinor, assignedMinor }: MonthBudget): string {
  if (unassignedMinor >= 0n) return 'ready to assign';
  return assignedMinor > 0n ? 'more assigned than you have' : 'more spent than you have';
}
