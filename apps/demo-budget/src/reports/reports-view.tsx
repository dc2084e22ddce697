import { useMemo, useState, type ReactNode } from 'react';
import type { Budget } from '../budget/budget.ts';
import { currenciesOfAccounts, type CurrencyRow } from '../queries/accounts.ts';
import { spanOfEntries, type SpanRow } from '../queries/reports.ts';
import { CurrencyChoice, useCurrency } from '../shell/currency-choice.tsx';
import { formatMonth, today } from '../shell/locale.ts';
import { hashOf, type Page } from '../shell/navigation.ts';
import { NoAccountYet } from '../shell/no-account-yet.tsx';
import { useQuery } from '../shell/use-query.ts';
import { BreakdownReport } from './breakdown/breakdown-report.tsx';
import { CashFlowReport } from './cash-flow/cash-flow-report.tsx';
import { NetWorthReport } from './net-worth/net-worth-report.tsx';
import { monthsFromTo, periodCounts, type Period } from './period.ts';
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
  const span = useQuery<SpanRow>(spanOfEntries, [currency ?? '']);
  const [known] = span.rows;
  const last = lastMonth ?? known?.lastMonth ?? today().slice(0, 7);
  const period = useMemo((): Period => ({ last, count }), [count, last]);
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
          period={period}
          months={monthsFromTo(known?.firstMonth ?? null, known?.lastMonth ?? null)}
          onLast={setLastMonth}
          onCount={setCount}
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
  readonly period: Period;
  readonly months: readonly string[];
  readonly onLast: (month: string) => void;
  readonly onCount: (count: number) => void;
}

function PeriodChoice({ period, months, onLast, onCount }: PeriodChoiceProps): ReactNode {
  return (
    <div className="period-choice">
      <label className="inline">
        Months
        <select value={period.count} onChange={(event) => onCount(Number(event.target.value))}>
          {periodCounts.map((count) => (
            <option key={count}>{count}</option>
          ))}
        </select>
      </label>
      <label className="inline">
        up to
        <select value={period.last} onChange={(event) => onLast(event.target.value)}>
          {!months.includes(period.last) && <option value={period.last}>{formatMonth(period.last)}</option>}
          {months.map((month) => (
            <option key={month} value={month}>
              {formatMonth(month)}
            </option>
          ))}
        </select>
      </label>
    </div>
  );
}
