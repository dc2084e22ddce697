import { useMemo, useState, type ReactNode } from 'react';
import { changeOfAccountsByMonth, type AccountChangeRow } from '../../queries/reports.ts';
import { Amount } from '../../shell/amount.tsx';
import { formatMonthInFull } from '../../shell/locale.ts';
import { hashOf } from '../../shell/navigation.ts';
import { useSteadyQuery } from '../../shell/use-query.ts';
import { AsTable } from '../chart/as-table.tsx';
import { ColumnChart } from '../chart/column-chart.tsx';
import { Facts } from '../chart/facts.tsx';
import { FigureTable } from '../chart/figure-table.tsx';
import { Legend } from '../chart/legend.tsx';
import { ReportedEntries } from '../entries/reported-entries.tsx';
import { daysIn, monthsOf, yearBefore } from '../period.ts';
import type { ReportProps } from '../report-props.ts';
import { netWorth, netWorthColumns } from './net-worth.ts';

/** The total of all accounts at the end of each month. */
export function NetWorthReport({ budget, currency, period }: ReportProps): ReactNode {
  const months = useMemo(() => monthsOf(period), [period]);
  const before = yearBefore(period);
  const { rows, loading } = useSteadyQuery<AccountChangeRow>(changeOfAccountsByMonth, [
    currency,
    period.first,
    period.last,
  ]);
  const earlier = useSteadyQuery<AccountChangeRow>(changeOfAccountsByMonth, [currency, before.first, before.last]);
  const worthBefore = useMemo(
    () => netWorth(earlier.rows, monthsOf(yearBefore(period))).months,
    [earlier.rows, period],
  );
  const worth = useMemo(() => netWorth(rows, months), [months, rows]);
  const columns = useMemo(() => netWorthColumns(worth.months, worthBefore), [worth.months, worthBefore]);
  const [month, setMonth] = useState<string | null>(null);
  const first = worth.months[0];
  const last = worth.months.at(-1);
  if (loading || earlier.loading || first === undefined || last === undefined) return null;
  if (rows.length === 0) return <p className="empty">No entries in any account by then.</p>;

  return (
    <>
      <Facts
        currency={currency}
        facts={[
          { name: 'Net worth', minor: last.worthMinor, beforeMinor: worthBefore.at(-1)?.worthMinor },
          { name: `Since ${formatMonthInFull(first.month)}`, minor: last.worthMinor - first.worthMinor },
          { name: 'Debts', minor: last.owedMinor, beforeMinor: worthBefore.at(-1)?.owedMinor },
        ]}
      />
      <div className="report-split">
        <section className="card chart">
          <h2>At the end of each month, in {currency}</h2>
          <Legend
            entries={[
              ['Assets', '--chart-in'],
              ['Debts', '--chart-out'],
              ['Net worth', '--chart-line'],
            ]}
          />
          <ColumnChart
            label={`Net worth at the end of each month, in ${currency}`}
            currency={currency}
            columns={columns}
            chosenId={month}
            onChoose={(id) => setMonth(id === month ? null : id)}
          />
          <AsTable>
            <FigureTable
              caption={`Net worth by month, in ${currency}`}
              currency={currency}
              head={['Month', 'Assets', 'Debts', 'Net worth', 'A year earlier']}
              rows={worth.months.map(({ month: id, ownedMinor, owedMinor, worthMinor }, index) => ({
                id,
                name: formatMonthInFull(id),
                figuresMinor: [ownedMinor, owedMinor, worthMinor, worthBefore[index]?.worthMinor ?? 0n],
              }))}
            />
          </AsTable>
        </section>
        <section className="card chart">
          <h2>By account</h2>
          <ul className="worth-of-accounts">
            {worth.accounts.map(({ accountId, name, balanceMinor }) => (
              <li key={accountId}>
                <a href={hashOf(budget, { page: 'entries', accountId })}>{name}</a>
                <Amount minor={balanceMinor} currency={currency} />
              </li>
            ))}
          </ul>
        </section>
      </div>
      {month !== null && months.includes(month) && (
        <ReportedEntries
          budget={budget}
          currency={currency}
          title={`Income and spending in ${formatMonthInFull(month)}`}
          days={daysIn(period, month)}
          side=""
          categoryId=""
          onClose={() => setMonth(null)}
        />
      )}
    </>
  );
}
