import { useState, type ReactNode } from 'react';
import type { Budget } from '../../budget/budget.ts';
import { reportedEntries, type ReportedEntryRow, type Side } from '../../queries/reports.ts';
import { Amount } from '../../shell/amount.tsx';
import { formatDay } from '../../shell/locale.ts';
import { hashOf } from '../../shell/navigation.ts';
import { useSteadyQuery } from '../../shell/use-query.ts';

export interface ReportedEntriesProps {
  readonly budget: Budget;
  readonly currency: string;
  readonly title: string;
  readonly days: { readonly first: string; readonly last: string };
  /** Empty: both. */
  readonly side: Side | '';
  /** As in the parameters of `reportedEntries`. */
  readonly categoryId: string;
  readonly onClose: () => void;
}

const rowsPerPage = 50;

/** The entries behind a figure of a report. */
export function ReportedEntries({
  budget,
  currency,
  title,
  days,
  side,
  categoryId,
  onClose,
}: ReportedEntriesProps): ReactNode {
  const [rowLimit, setRowLimit] = useState(rowsPerPage);
  const { rows, loading } = useSteadyQuery<ReportedEntryRow>(reportedEntries, [
    currency,
    days.first,
    days.last,
    side,
    side,
    categoryId,
    categoryId,
    rowLimit,
  ]);
  if (loading) return null;
  const allCount = rows[0]?.allCount ?? 0;
  return (
    <section className="card chart" aria-label={title}>
      <header className="page-head">
        <div role="status">
          <h2>{title}</h2>
          <p className="hint">
            {allCount === 1 ? '1 entry' : `${allCount} entries`}
            {allCount > 0 && (
              <>
                {', total '}
                <Amount minor={rows[0]?.allMinor ?? 0} currency={currency} />
              </>
            )}
          </p>
        </div>
        <button type="button" className="quiet" onClick={onClose}>
          Close
        </button>
      </header>
      {allCount > 0 && (
        <table className="reported">
          <caption className="visually-hidden">{title}</caption>
          <thead className="visually-hidden">
            <tr>
              <th scope="col">Date</th>
              <th scope="col">Payee and memo</th>
              <th scope="col">Category and account</th>
              <th scope="col">Amount</th>
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <tr key={`${row.id} ${row.categoryId}`}>
                <td className="entry-date">{formatDay(row.date)}</td>
                <td className="reported-payee">
                  <span className="payee">{row.payee === '' ? 'No payee' : row.payee}</span>
                  {row.notes !== '' && <span className="notes">{row.notes}</span>}
                </td>
                <td className="reported-place hint">
                  {row.categoryName ?? 'No category'} ·{' '}
                  <a href={hashOf(budget, { page: 'entries', accountId: row.accountId })}>{row.accountName}</a>
                </td>
                <td className="number">
                  <Amount minor={row.amountMinor} currency={currency} signed />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {allCount > rows.length && (
        <button type="button" className="more" onClick={() => setRowLimit(rowLimit + rowsPerPage)}>
          Show older entries
        </button>
      )}
    </section>
  );
}
