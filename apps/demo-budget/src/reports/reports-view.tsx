import { useId, useMemo, useState, type ReactNode } from 'react';
import type { Budget } from '../budget/budget.ts';
import { useToday } from '../budget/view.ts';
import { isDay, monthOfDay, type Days } from '../calendar/months.ts';
import { currenciesOfAccounts, type CurrencyRow } from '../queries/accounts.ts';
import { spanOfEntries, type SpanRow } from '../queries/reports.ts';
import { useSettings } from '../settings/use-settings.ts';
import { CurrencyChoice, useCurrency } from '../shell/currency-choice.tsx';
import { formatMonth } from '../shell/locale.ts';
import { hashOf, type Page } from '../shell/navigation.ts';
import { NoAccountYet } from '../shell/no-account-yet.tsx';
import { useQuery } from '../shell/use-query.ts';
import { BreakdownReport } from './breakdown/breakdown-report.tsx';
import { CashFlowReport } from './cash-flow/cash-flow-report.tsx';
import { NetWorthReport } from './net-worth/net-worth-report.tsx';
import { monthsFromTo, periodCounts, periodOfMonths, type Period } from './period.ts';
import { SpendingReport } from './spending/spending-report.tsx';

/** The report pages, with their titles. */
export const reportPages = {
  reports: 'Spending',
  'cash-flow': 'Cash flow',
  'net-worth': 'Net worth',
  breakdown: 'Breakdown',
} as const satisfies Partial<Record<Page, string>>;

export type ReportPage = keyof typeof reportPages;

export function isReportPage(page: Page): page is ReportPage {
  return page in reportPages;
}

const reportOf = {
  reports: SpendingReport,
  'cash-flow': CashFlowReport,
  'net-worth': NetWorthReport,
  breakdown: BreakdownReport,
} as const;

/** The reports of the budget. One currency at a time, and one period for all reports. */
export function ReportsView({ budget, page }: { readonly budget: Budget; readonly page: ReportPage }): ReactNode {
  const { rows, loading } = useQuery<CurrencyRow>(currenciesOfAccounts);
  const [currency, choice] = useCurrency(rows);
  const [lastMonth, setLastMonth] = useState<string | null>(null);
  const [count, setCount] = useState(12);
  const day = useToday();
  const span = useQuery<SpanRow>(spanOfEntries, [currency ?? '']);
  const [known] = span.rows;
  const { firstDay } = useSettings();
  const thisMonth = monthOfDay(day, firstDay);
  const newest = known?.lastMonth ?? thisMonth;
  // An entry that is planned for a later year would otherwise hide this one.
  const last = lastMonth ?? (newest < thisMonth ? newest : thisMonth);
  const [days, setDays] = useState<Days | null>(null);
  const period = useMemo(
    (): Period => (days === null ? periodOfMonths(last, count, firstDay) : { ...days, firstDay }),
    [count, days, firstDay, last],
  );
  const Report = reportOf[page];
  return (
    <>
      <header className="page-head">
        <h1>Reports</h1>
        <CurrencyChoice {...choice} />
      </header>
      <div className="report-head">
        <nav className="report-nav" aria-label="Reports">
          {Object.entries(reportPages).map(([target, word]) => (
            <a
              key={target}
              href={hashOf(budget, { page: target as ReportPage })}
              aria-current={target === page ? 'page' : undefined}
            >
              {word}
            </a>
          ))}
        </nav>
        <PeriodChoice
          count={count}
          last={last}
          days={days}
          months={monthsFromTo(known?.firstMonth ?? null, known?.lastMonth ?? null)}
          onLast={setLastMonth}
          onCount={(next) => {
            setCount(next);
            setDays(null);
          }}
          onDays={() => setDays({ first: period.first, last: period.last })}
          onRange={setDays}
        />
      </div>
      {currency !== undefined && !span.loading && (
        <Report key={currency} budget={budget} currency={currency} period={period} />
      )}
      {!loading && currency === undefined && <NoAccountYet budget={budget}>Nothing to report yet.</NoAccountYet>}
    </>
  );
}

interface PeriodChoiceProps {
  readonly count: number;
  /** The last month, as `YYYY-MM`. */
  readonly last: string;
  /** Null unless the user chose a range of days instead of whole months. */
  readonly days: Days | null;
  readonly months: readonly string[];
  readonly onLast: (month: string) => void;
  readonly onCount: (count: number) => void;
  /** Called to choose days instead of months. */
  readonly onDays: () => void;
  readonly onRange: (days: Days) => void;
}

/** The option that replaces the number of months by a custom range of days. */
const anyDays = 'days';

function PeriodChoice({ count, last, days, months, onLast, onCount, onDays, onRange }: PeriodChoiceProps): ReactNode {
  const id = useId();
  return (
    <div className="period-choice">
      <label className="inline">
        Months
        <select
          value={days === null ? count : anyDays}
          onChange={(event) => (event.target.value === anyDays ? onDays() : onCount(Number(event.target.value)))}
        >
          {periodCounts.map((known) => (
            <option key={known}>{known}</option>
          ))}
          <option value={anyDays}>Any days</option>
        </select>
      </label>
      {days === null ? (
        <label className="inline">
          up to
          <select value={last} onChange={(event) => onLast(event.target.value)}>
            {!months.includes(last) && <option value={last}>{formatMonth(last)}</option>}
            {months.map((month) => (
              <option key={month} value={month}>
                {formatMonth(month)}
              </option>
            ))}
          </select>
        </label>
      ) : (
        <DayRange id={id} days={days} onRange={onRange} />
      )}
    </div>
  );
}

interface DayRangeProps {
  readonly id: string;
  readonly days: Days;
  readonly onRange: (days: Days) => void;
}

/**
 * Two date fields. A date that is still being typed, or a range that ends before it begins, leaves the report
 * unchanged.
 */
function DayRange({ id, days, onRange }: DayRangeProps): ReactNode {
  const [typed, setTyped] = useState(days);
  const isBackwards = isDay(typed.first) && isDay(typed.last) && typed.last < typed.first;
  const type = (next: Days): void => {
    setTyped(next);
    if (isDay(next.first) && isDay(next.last) && next.first <= next.last) onRange(next);
  };
  return (
    <>
      <label className="inline">
        From
        <input type="date" value={typed.first} onChange={(event) => type({ ...typed, first: event.target.value })} />
      </label>
      <label className="inline">
        To
        <input
          type="date"
          value={typed.last}
          aria-invalid={isBackwards}
          aria-describedby={isBackwards ? id : undefined}
          onChange={(event) => type({ ...typed, last: event.target.value })}
        />
      </label>
      {isBackwards && (
        <p id={id} role="alert" className="problem">
          The last day must be after the first.
        </p>
      )}
    </>
  );
}
