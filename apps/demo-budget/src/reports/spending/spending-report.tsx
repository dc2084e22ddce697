import { useMemo, useState, type ReactNode } from 'react';
import { categoriesByName, type CategoryRow } from '../../queries/categories.ts';
import { noCategory, spendingByMonth, type SpendingRow } from '../../queries/reports.ts';
import { formatMonthInFull } from '../../shell/locale.ts';
import { hashOf } from '../../shell/navigation.ts';
import { useQuery, useSteadyQuery } from '../../shell/use-query.ts';
import { AsTable } from '../chart/as-table.tsx';
import { ColumnChart } from '../chart/column-chart.tsx';
import { Facts } from '../chart/facts.tsx';
import { ReportedEntries } from '../entries/reported-entries.tsx';
import { daysIn, monthsOf, yearBefore } from '../period.ts';
import type { ReportProps } from '../report-props.ts';
import { CategoryRanking } from './category-ranking.tsx';
import { restId, spendingColumns } from './spending-columns.ts';
import { spendingReport } from './spending.ts';
import { SpendingTable } from './spending-table.tsx';

/** Spending by month and by category. */
export function SpendingReport({ budget, currency, period }: ReportProps): ReactNode {
  const months = useMemo(() => monthsOf(period), [period]);
  const before = yearBefore(period);
  const spending = useSteadyQuery<SpendingRow>(spendingByMonth, [currency, period.first, period.last]);
  const earlier = useSteadyQuery<SpendingRow>(spendingByMonth, [currency, before.first, before.last]);
  const { rows: categories } = useQuery<CategoryRow>(categoriesByName);
  const report = useMemo(() => spendingReport(spending.rows, categories, months), [categories, months, spending.rows]);
  const reportBefore = useMemo(
    () => spendingReport(earlier.rows, categories, monthsOf(yearBefore(period))),
    [categories, earlier.rows, period],
  );
  const [category, setCategory] = useState<string | null | undefined>(undefined);
  const [month, setMonth] = useState<string | null>(null);
  const only = report.lines.some(({ categoryId }) => categoryId === category) ? category : undefined;
  const columns = useMemo(() => spendingColumns(report, only, reportBefore), [only, report, reportBefore]);
  if (spending.loading || earlier.loading) return null;
  const total = (
    <Facts
      currency={currency}
      facts={[{ name: 'Spending', minor: report.totalMinor, beforeMinor: reportBefore.totalMinor }]}
    />
  );
  if (report.lines.length === 0)
    return (
      <>
        {reportBefore.lines.length > 0 && total}
        <p className="empty">No spending in these days.</p>
      </>
    );

  const choose = (chosenMonth: string, segmentId: string | null): void => {
    const again = chosenMonth === month && segmentId === null;
    setMonth(again ? null : chosenMonth);
    if (segmentId !== null && segmentId !== restId) setCategory(segmentId === '' ? null : segmentId);
  };
  const shownMonth = month !== null && months.includes(month) ? month : null;
  const name =
    only === undefined ? 'All spending' : (report.lines.find(({ categoryId }) => categoryId === only)?.name ?? '');

  return (
    <>
      {total}
      <div className="report-split">
        <section className="card chart">
          <h2>
            Each month, in {currency}
            {only !== undefined && `: ${name}`}
          </h2>
          <ColumnChart
            label={`Spending of each month, in ${currency}`}
            currency={currency}
            columns={columns}
            chosenId={shownMonth}
            onChoose={choose}
          />
          <AsTable>
            <SpendingTable report={report} before={reportBefore} currency={currency} />
          </AsTable>
        </section>
        <section className="card chart">
          <h2>By category</h2>
          <CategoryRanking report={report} currency={currency} chosen={only} onChoose={setCategory} />
          <a className="hint" href={hashOf(budget, { page: 'categories' })}>
            Change categories
          </a>
        </section>
      </div>
      {(shownMonth !== null || only !== undefined) && (
        <ReportedEntries
          budget={budget}
          currency={currency}
          title={shownMonth === null ? name : `${name} in ${formatMonthInFull(shownMonth)}`}
          days={shownMonth === null ? period : daysIn(period, shownMonth)}
          side="spending"
          categoryId={only === undefined ? '' : (only ?? noCategory)}
          onClose={() => {
            setMonth(null);
            setCategory(undefined);
          }}
        />
      )}
    </>
  );
}
