import { useMemo, useState, type ReactNode } from 'react';
import { monthsUpTo } from '../../calendar/months.ts';
import { categoriesByName, type CategoryRow } from '../../queries/categories.ts';
import { noCategory, spendingByMonth, type SpendingRow } from '../../queries/reports.ts';
import { formatMonthInFull } from '../../shell/locale.ts';
import { hashOf } from '../../shell/navigation.ts';
import { useQuery, useSteadyQuery } from '../../shell/use-query.ts';
import { AsTable } from '../chart/as-table.tsx';
import { ColumnChart } from '../chart/column-chart.tsx';
import { ReportedEntries } from '../entries/reported-entries.tsx';
import { daysOf } from '../period.ts';
import type { ReportProps } from '../report-props.ts';
import { CategoryRanking } from './category-ranking.tsx';
import { restId, spendingColumns } from './spending-columns.ts';
import { spendingReport } from './spending.ts';
import { SpendingTable } from './spending-table.tsx';

/** Spending by month and by category. */
export function SpendingReport({ budget, currency, period }: ReportProps): ReactNode {
  const months = useMemo(() => monthsUpTo(period.last, period.count), [period]);
  const days = daysOf(period);
  const spending = useSteadyQuery<SpendingRow>(spendingByMonth, [currency, days.first, days.last]);
  const { rows: categories } = useQuery<CategoryRow>(categoriesByName);
  const report = useMemo(() => spendingReport(spending.rows, categories, months), [categories, months, spending.rows]);
  const [category, setCategory] = useState<string | null | undefined>(undefined);
  const [month, setMonth] = useState<string | null>(null);
  const only = report.lines.some(({ categoryId }) => categoryId === category) ? category : undefined;
  const columns = useMemo(() => spendingColumns(report, only), [only, report]);
  if (spending.loading) return null;
  if (report.lines.length === 0) return <p className="empty">No spending in these months.</p>;

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
            <SpendingTable report={report} currency={currency} />
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
          days={shownMonth === null ? days : daysOf({ last: shownMonth, count: 1 })}
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
