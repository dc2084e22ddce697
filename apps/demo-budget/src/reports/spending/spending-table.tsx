import type { ReactNode } from 'react';
import { formatMinorRounded } from '../../money/format.ts';
import { formatMonth, locale } from '../../shell/locale.ts';
import type { SpendingReport } from './spending.ts';

/** The report as a table: a row per category, a column per month. */
export function SpendingTable({
  report,
  before,
  currency,
}: {
  readonly report: SpendingReport;
  /** The same days a year earlier. */
  readonly before: SpendingReport;
  readonly currency: string;
}): ReactNode {
  return (
    <div className="table-scroll" role="region" aria-label="Spending by category and month" tabIndex={0}>
      <table className="figures">
        <caption className="visually-hidden">Spending by category and month, in {currency}</caption>
        <thead>
          <tr>
            <th scope="col">Category</th>
            <th scope="col" className="number">
              Total
            </th>
            <th scope="col" className="number">
              A year earlier
            </th>
            {report.months.map((month) => (
              <th key={month} scope="col" className="number">
                {formatMonth(month)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {report.lines.map((line) => (
            <tr key={line.categoryId ?? ''}>
              <th scope="row">{line.name}</th>
              <td className="number together">{formatMinorRounded(line.totalMinor, currency, locale)}</td>
              <td className="number">
                {formatMinorRounded(
                  before.lines.find(({ categoryId }) => categoryId === line.categoryId)?.totalMinor ?? 0n,
                  currency,
                  locale,
                )}
              </td>
              {line.spentMinorByMonth.map((spentMinor, index) => (
                <td key={report.months[index]} className="number">
                  {spentMinor === 0n ? (
                    <span className="nothing">–</span>
                  ) : (
                    formatMinorRounded(spentMinor, currency, locale)
                  )}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
        <tfoot>
          <tr>
            <th scope="row">All categories</th>
            <td className="number together">{formatMinorRounded(report.totalMinor, currency, locale)}</td>
            <td className="number">{formatMinorRounded(before.totalMinor, currency, locale)}</td>
            {report.totalMinorByMonth.map((totalMinor, index) => (
              <td key={report.months[index]} className="number">
                {formatMinorRounded(totalMinor, currency, locale)}
              </td>
            ))}
          </tr>
        </tfoot>
      </table>
    </div>
  );
}
