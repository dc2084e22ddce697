import { useMemo, useState, type ReactNode } from 'react';
import type { Budget } from '../budget/budget.ts';
import { monthsUpTo } from '../calendar/months.ts';
import {
  accountsWithBalances,
  categoriesByName,
  monthsWithEntries,
  spendingByMonth,
  type AccountRow,
  type CategoryRow,
  type MonthRow,
  type SpendingRow,
} from '../queries.ts';
import { CurrencyChoice, useCurrency } from '../shell/currency-choice.tsx';
import { formatMonth, today } from '../shell/locale.ts';
import { hashOf } from '../shell/navigation.ts';
import { useQuery, useSteadyQuery } from '../shell/use-query.ts';
import { MonthBars } from './month-bars.tsx';
import { spendingReport } from './spending.ts';
import { SpendingTable } from './spending-table.tsx';

/** What was spent, by category and month. One currency at a time: amounts of two are never added. */
export function ReportsView({ budget }: { readonly budget: Budget }): ReactNode {
  const accounts = useQuery<AccountRow>(accountsWithBalances);
  const [currency, choice] = useCurrency(accounts.rows);
  return (
    <>
      <header className="page-head">
        <h1>Spending</h1>
        <CurrencyChoice {...choice} />
      </header>
      {currency !== undefined && <SpendingIn key={currency} budget={budget} currency={currency} />}
      {!accounts.loading && currency === undefined && <p className="empty">There is nothing to report yet. Add an account first.</p>}
    </>
  );
}

function SpendingIn({ budget, currency }: { readonly budget: Budget; readonly currency: string }): ReactNode {
  const { rows: monthRows, loading } = useQuery<MonthRow>(monthsWithEntries, [currency]);
  const [chosenMonth, setChosenMonth] = useState<string | null>(null);
  const [monthCount, setMonthCount] = useState(6);
  const last = chosenMonth ?? monthRows[0]?.month ?? today().slice(0, 7);
  const months = useMemo(() => monthsUpTo(last, monthCount), [last, monthCount]);
  const spending = useSteadyQuery<SpendingRow>(spendingByMonth, [currency, months[0] ?? last, last]);
  const { rows: categories } = useQuery<CategoryRow>(categoriesByName);
  const report = useMemo(() => spendingReport(spending.rows, categories, months), [categories, months, spending.rows]);
  if (loading || spending.loading) return null;
  return (
    <>
      <div className="fields compact report-choice">
        <label>
          Up to
          <select value={last} onChange={(event) => setChosenMonth(event.target.value)}>
            {monthRows.every((row) => row.month !== last) && <option value={last}>{formatMonth(last)}</option>}
            {monthRows.map(({ month }) => (
              <option key={month} value={month}>
                {formatMonth(month)}
              </option>
            ))}
          </select>
        </label>
        <label>
          Months
          <select value={monthCount} onChange={(event) => setMonthCount(Number(event.target.value))}>
            {[3, 6, 12, 24].map((count) => (
              <option key={count}>{count}</option>
            ))}
          </select>
        </label>
        <a href={hashOf(budget, { page: 'categories' })}>Change categories</a>
      </div>
      {report.lines.length === 0 ? (
        <p className="empty">Nothing was spent in these months.</p>
      ) : (
        <>
          <div className="card chart">
            <h2>Each month, in {currency}</h2>
            <MonthBars report={report} currency={currency} />
          </div>
          <div className="card chart">
            <h2>By category, in {currency}</h2>
            <SpendingTable report={report} currency={currency} />
          </div>
        </>
      )}
    </>
  );
}
