import { useMemo, useState, type ReactNode } from 'react';
import { cashFlowByMonth, type CashFlowRow, type Side } from '../../queries/reports.ts';
import { formatMonthInFull } from '../../shell/locale.ts';
import { useSteadyQuery } from '../../shell/use-query.ts';
import { AsTable } from '../chart/as-table.tsx';
import { ColumnChart } from '../chart/column-chart.tsx';
import { Facts } from '../chart/facts.tsx';
import { FigureTable } from '../chart/figure-table.tsx';
import { Legend } from '../chart/legend.tsx';
import { ReportedEntries } from '../entries/reported-entries.tsx';
import { daysIn, monthsOf, yearBefore } from '../period.ts';
import type { ReportProps } from '../report-props.ts';
import { cashFlow, cashFlowColumns, totalOf } from './cash-flow.ts';

const sideWords: Readonly<Record<Side | '', string>> = {
  '': 'Income and spending',
  income: 'Income',
  spending: 'Spending',
};

/** Income against spending, by month. */
export function CashFlowReport({ budget, currency, period }: ReportProps): ReactNode {
  const months = useMemo(() => monthsOf(period), [period]);
  const before = yearBefore(period);
  const { rows, loading } = useSteadyQuery<CashFlowRow>(cashFlowByMonth, [currency, period.first, period.last]);
  const earlier = useSteadyQuery<CashFlowRow>(cashFlowByMonth, [currency, before.first, before.last]);
  const flowsBefore = useMemo(() => cashFlow(earlier.rows, monthsOf(yearBefore(period))), [earlier.rows, period]);
  const flows = useMemo(() => cashFlow(rows, months), [months, rows]);
  const columns = useMemo(() => cashFlowColumns(flows, flowsBefore), [flows, flowsBefore]);
  const [chosen, setChosen] = useState<{ readonly month: string; readonly side: Side | '' } | null>(null);
  if (loading || earlier.loading) return null;
  if (rows.length === 0) return <p className="empty">No income or spending in these days.</p>;

  const total = totalOf(flows);
  const totalBefore = totalOf(flowsBefore);
  const choose = (month: string, segmentId: string | null): void => {
    const side = segmentId === 'income' || segmentId === 'spending' ? segmentId : '';
    setChosen(chosen?.month === month && chosen.side === side ? null : { month, side });
  };
  return (
    <>
      <Facts
        currency={currency}
        facts={[
          { name: 'Income', minor: total.incomeMinor, beforeMinor: totalBefore.incomeMinor },
          { name: 'Spending', minor: total.spentMinor, beforeMinor: totalBefore.spentMinor },
          { name: 'Net', minor: total.keptMinor, beforeMinor: totalBefore.keptMinor },
        ]}
      />
      <section className="card chart">
        <h2>Each month, in {currency}</h2>
        <Legend
          entries={[
            ['Income', '--chart-in'],
            ['Spending', '--chart-out'],
            ['Net', '--chart-line'],
          ]}
        />
        <ColumnChart
          label={`Income and spending of each month, in ${currency}`}
          currency={currency}
          columns={columns}
          chosenId={chosen?.month ?? null}
          onChoose={choose}
        />
        <AsTable>
          <FigureTable
            caption={`Income and spending by month, in ${currency}`}
            currency={currency}
            head={['Month', 'Income', 'Spending', 'Net', 'Net a year earlier']}
            rows={flows.map(({ month, incomeMinor, spentMinor, keptMinor }, index) => ({
              id: month,
              name: formatMonthInFull(month),
              figuresMinor: [incomeMinor, spentMinor, keptMinor, flowsBefore[index]?.keptMinor ?? 0n],
            }))}
          />
        </AsTable>
      </section>
      {chosen !== null && months.includes(chosen.month) && (
        <ReportedEntries
          budget={budget}
          currency={currency}
          title={`${sideWords[chosen.side]} in ${formatMonthInFull(chosen.month)}`}
          days={daysIn(period, chosen.month)}
          side={chosen.side}
          categoryId=""
          onClose={() => setChosen(null)}
        />
      )}
    </>
  );
}
