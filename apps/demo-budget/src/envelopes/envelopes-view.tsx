import { useState, type ReactNode } from 'react';
import type { Budget } from '../budget/budget.ts';
import { useToday, useView } from '../budget/view.ts';
import { daysOfMonth, monthAfter, monthOfDay } from '../calendar/months.ts';
import { currenciesOfAccounts, type CurrencyRow } from '../queries/accounts.ts';
import { useSettings } from '../settings/use-settings.ts';
import { CurrencyChoice, useCurrency } from '../shell/currency-choice.tsx';
import { formatDay, formatMonthInFull } from '../shell/locale.ts';
import { NoAccountYet } from '../shell/no-account-yet.tsx';
import { useQuery } from '../shell/use-query.ts';
import { MonthBudgets } from './month-budgets.tsx';

/** The budget of a month: how much each category may spend. One currency at a time. */
export function EnvelopesView({ budget }: { readonly budget: Budget }): ReactNode {
  const currencies = useQuery<CurrencyRow>(currenciesOfAccounts);
  const [currency, choice] = useCurrency(currencies.rows);
  const { firstDay } = useSettings();
  const [chosenMonth, setMonth] = useState<string | null>(null);
  const thisMonth = monthOfDay(useToday(), firstDay);
  const view = useView();
  // A what-if plans the next month.
  const month = chosenMonth ?? (view === 'what-if' ? monthAfter(thisMonth, 1) : thisMonth);
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
        <MonthBudgets
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
