import { useClient } from '@rockpool/client/react';
import { Fragment, useMemo, useState, type ReactNode } from 'react';
import type { Budget } from '../budget/budget.ts';
import { useMayWrite } from '../budget/role.ts';
import { monthAfter } from '../calendar/months.ts';
import { setCategoryNote, setKeepsOverspent } from '../categories/actions.ts';
import { removeGoal, setGoal } from '../goals/actions.ts';
import { GoalForm } from '../goals/goal-form.tsx';
import { goalState, type GoalState } from '../goals/goal-state.ts';
import { minorDigits } from '../money/currency.ts';
import { currenciesOfAccounts, type CurrencyRow } from '../queries/accounts.ts';
import { categoriesByName, type CategoryRow } from '../queries/categories.ts';
import { activityByMonth, assignedByMonth, type ActivityRow, type AssignedRow } from '../queries/envelopes.ts';
import { goalsInCurrency, type GoalRow } from '../queries/goals.ts';
import { Amount } from '../shell/amount.tsx';
import { CurrencyChoice, useCurrency } from '../shell/currency-choice.tsx';
import { useAction, useSave } from '../shell/failure.tsx';
import { formatMonthInFull, today } from '../shell/locale.ts';
import { hashOf } from '../shell/navigation.ts';
import { NoAccountYet } from '../shell/no-account-yet.tsx';
import { useQuery, useSteadyQuery } from '../shell/use-query.ts';
import { assign, assignAll, move } from './actions.ts';
import { EnvelopeNote } from './envelope-note.tsx';
import { EnvelopeRow } from './envelope-row.tsx';
import { monthBudget, type Envelope, type MonthBudget } from './envelopes.ts';
import { MonthEnd } from './month-end.tsx';
import { MoveForm } from './move-form.tsx';

/** The budget of a month: how much each category may spend. One currency at a time. */
export function EnvelopesView({ budget }: { readonly budget: Budget }): ReactNode {
  const currencies = useQuery<CurrencyRow>(currenciesOfAccounts);
  const [currency, choice] = useCurrency(currencies.rows);
  const [month, setMonth] = useState(today().slice(0, 7));
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
      </div>
      {currency !== undefined && (
        <MonthOf key={currency} budget={budget} currency={currency} month={month} openingMinor={openingMinor} />
      )}
      {!currencies.loading && currency === undefined && (
        <NoAccountYet budget={budget}>No money to budget yet.</NoAccountYet>
      )}
    </>
  );
}

interface MonthOfProps {
  readonly budget: Budget;
  readonly currency: string;
  readonly month: string;
  readonly openingMinor: bigint;
}

function MonthOf({ budget, currency, month, openingMinor }: MonthOfProps): ReactNode {
  const client = useClient();
  const run = useAction();
  const save = useSave();
  const mayWrite = useMayWrite();
  const { rows: categories } = useQuery<CategoryRow>(categoriesByName);
  const assigned = useSteadyQuery<AssignedRow>(assignedByMonth, [currency, month]);
  const activity = useSteadyQuery<ActivityRow>(activityByMonth, [currency, month]);
  const { rows: goals } = useQuery<GoalRow>(goalsInCurrency, [currency]);
  // One form at a time, below its row.
  const [opened, setOpened] = useState<{ readonly form: 'move' | 'goal'; readonly categoryId: string } | null>(null);
  const plan = useMemo(
    () => monthBudget({ month, categories, assigned: assigned.rows, activity: activity.rows, openingMinor }),
    [activity.rows, assigned.rows, categories, month, openingMinor],
  );
  if (assigned.loading || activity.loading) return null;

  const shown = plan.envelopes.filter(
    (envelope) => !envelope.hidden || envelope.availableMinor !== 0n || envelope.assignedMinor !== 0n,
  );
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
  const moveForm = (envelope: Envelope): ReactNode => (
    <MoveForm
      envelope={envelope}
      envelopes={shown}
      currency={currency}
      onMove={(fromCategoryId, toCategoryId, amountMinor) =>
        save(
          () => move(client, { month, currency, categoryId: fromCategoryId, amountMinor }, toCategoryId),
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
          onCover={(categoryId) => setOpened({ form: 'move', categoryId })}
        />
      )}
      <table role="table" className="envelopes" aria-label={`Budget of ${formatMonthInFull(month)}`}>
        <thead role="rowgroup">
          <tr role="row">
            <th role="columnheader" scope="col">
              Category
            </th>
            <th role="columnheader" scope="col" className="number">
              Assigned
            </th>
            <th role="columnheader" scope="col" className="number">
              Spent
            </th>
            <th role="columnheader" scope="col" className="number">
              Available
            </th>
          </tr>
        </thead>
        <tbody role="rowgroup">
          {shown.map((envelope, index) => (
            <Fragment key={`${month} ${envelope.categoryId}`}>
              {envelope.groupName !== '' && shown[index - 1]?.groupName !== envelope.groupName && (
                <GroupRow
                  name={envelope.groupName}
                  envelopes={shown.filter(({ groupName }) => groupName === envelope.groupName)}
                  currency={currency}
                />
              )}
              <EnvelopeRow
                envelope={envelope}
                currency={currency}
                onAssign={(amountMinor) =>
                  assign(client, { month, currency, categoryId: envelope.categoryId, amountMinor })
                }
                goal={goalOf(envelope)}
                onMove={() => setOpened({ form: 'move', categoryId: envelope.categoryId })}
                onGoal={() => setOpened({ form: 'goal', categoryId: envelope.categoryId })}
              />
              {mayWrite && opened?.categoryId === envelope.categoryId && (
                <tr role="row" className="envelope-form">
                  <td role="cell" colSpan={4}>
                    {opened.form === 'move' ? moveForm(envelope) : goalForm(envelope)}
                  </td>
                </tr>
              )}
            </Fragment>
          ))}
        </tbody>
        <tfoot role="rowgroup">
          <tr role="row">
            <th role="rowheader" scope="row">
              Total
            </th>
            <td role="cell" data-of="Assigned" className="number">
              <Amount minor={plan.assignedMinor} currency={currency} />
            </td>
            <td role="cell" data-of="Spent" className="number">
              <Amount minor={plan.spentMinor} currency={currency} />
            </td>
            <td role="cell" data-of="Available" className="number">
              <Amount minor={plan.availableMinor} currency={currency} />
            </td>
          </tr>
        </tfoot>
      </table>
      <p className="page-foot">
        <a href={hashOf(budget, { page: 'categories' })}>{mayWrite ? 'Change categories' : 'Categories'}</a>
      </p>
    </>
  );
}

interface GroupRowProps {
  readonly name: string;
  readonly envelopes: readonly Envelope[];
  readonly currency: string;
}

/** The heading of a group, with its totals. */
function GroupRow({ name, envelopes, currency }: GroupRowProps): ReactNode {
  const total = (minorOf: (envelope: Envelope) => bigint): bigint =>
    envelopes.reduce((sum, envelope) => sum + minorOf(envelope), 0n);
  return (
    <tr role="row" className="envelope-group">
      <th role="rowheader" scope="rowgroup">
        {name}
      </th>
      <td role="cell" data-of="Assigned" className="number">
        <Amount minor={total(({ assignedMinor }) => assignedMinor)} currency={currency} />
      </td>
      <td role="cell" data-of="Spent" className="number">
        <Amount minor={total(({ spentMinor }) => spentMinor)} currency={currency} />
      </td>
      <td role="cell" data-of="Available" className="number">
        <Amount minor={total(({ availableMinor }) => availableMinor)} currency={currency} />
      </td>
    </tr>
  );
}

function unassignedWords({ unassignedMinor, assignedMinor }: MonthBudget): string {
  if (unassignedMinor >= 0n) return 'ready to assign';
  return assignedMinor > 0n ? 'more assigned than you have' : 'more spent than you have';
}
