import { useState, type ReactNode } from 'react';
import { breakdownBy, type BreakdownBy, type BreakdownRow } from '../../queries/reports.ts';
import { Amount } from '../../shell/amount.tsx';
import { locale } from '../../shell/locale.ts';
import { useSteadyQuery } from '../../shell/use-query.ts';
import { yearBefore } from '../period.ts';
import type { ReportProps } from '../report-props.ts';
import { barShare } from '../spending/spending.ts';

const byWords: Readonly<Record<BreakdownBy, string>> = {
  payee: 'Payee',
  category: 'Category',
  group: 'Group',
  account: 'Account',
};

const shownAtFirst = 50;

/** Spending by payee, category, group or account, compared with the same days a year earlier. */
export function BreakdownReport({ currency, period }: ReportProps): ReactNode {
  const [by, setBy] = useState<BreakdownBy>('payee');
  const [limit, setLimit] = useState(shownAtFirst);
  const before = yearBefore(period);
  const { rows, loading } = useSteadyQuery<BreakdownRow>(breakdownBy(by), [
    currency,
    period.first,
    period.last,
    before.first,
    before.last,
  ]);
  if (loading) return null;
  const total = (minorOf: (row: BreakdownRow) => number | bigint): bigint =>
    rows.reduce((sum, row) => sum + BigInt(minorOf(row)), 0n);
  const largest = BigInt(rows[0]?.spentMinor ?? 0);
  const rowsByName = Map.groupBy(rows, ({ name }) => name);
  // A group tells equal names apart.
  const nameOf = ({ name, groupName }: BreakdownRow): string =>
    name === ''
      ? emptyName(by)
      : groupName !== '' && (rowsByName.get(name)?.length ?? 0) > 1
        ? `${name} (${groupName})`
        : name;
  return (
    <section className="card chart">
      <div className="breakdown-head">
        <label>
          By
          <select value={by} onChange={(event) => setBy(event.target.value as BreakdownBy)}>
            {Object.entries(byWords).map(([value, word]) => (
              <option key={value} value={value}>
                {word}
              </option>
            ))}
          </select>
        </label>
      </div>
      <table className="figures breakdown" aria-label={`Spending by ${byWords[by].toLowerCase()}, in ${currency}`}>
        <thead>
          <tr>
            <th scope="col">{byWords[by]}</th>
            <th scope="col">
              <span className="visually-hidden">Share</span>
            </th>
            <th scope="col" className="number">
              Spent
            </th>
            <th scope="col" className="number">
              A year earlier
            </th>
            <th scope="col" className="number">
              Change
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, limit).map((row) => (
            <tr key={row.key}>
              <th scope="row">{nameOf(row)}</th>
              <td className="breakdown-bar" aria-hidden="true">
                <span style={{ width: `${barShare(BigInt(row.spentMinor), largest) * 100}%` }} />
              </td>
              <td className="number">
                <Amount minor={row.spentMinor} currency={currency} />
              </td>
              <td className="number">
                <Amount minor={row.beforeMinor} currency={currency} />
              </td>
              <td className="number">{changeWords(BigInt(row.spentMinor), BigInt(row.beforeMinor))}</td>
            </tr>
          ))}
          {rows.length === 0 && (
            <tr>
              <td colSpan={5}>No spending in these days.</td>
            </tr>
          )}
        </tbody>
        <tfoot>
          <tr>
            <th scope="row">Total</th>
            <td className="breakdown-bar" />
            <td className="number">
              <Amount minor={total(({ spentMinor }) => spentMinor)} currency={currency} />
            </td>
            <td className="number">
              <Amount minor={total(({ beforeMinor }) => beforeMinor)} currency={currency} />
            </td>
            <td className="number">
              {changeWords(
                total(({ spentMinor }) => spentMinor),
                total(({ beforeMinor }) => beforeMinor),
              )}
            </td>
          </tr>
        </tfoot>
      </table>
      {rows.length > limit && (
        <button type="button" className="more" onClick={() => setLimit(limit * 4)}>
          Show more of the {rows.length.toLocaleString(locale)} lines
        </button>
      )}
    </section>
  );
}

function emptyName(by: BreakdownBy): string {
  return by === 'payee' ? 'No payee' : by === 'group' ? 'No group' : 'No category';
}

const percent = new Intl.NumberFormat(locale, {
  style: 'percent',
  signDisplay: 'exceptZero',
  maximumFractionDigits: 0,
});

function changeWords(minor: bigint, beforeMinor: bigint): string {
  return beforeMinor <= 0n ? '—' : percent.format(Number(((minor - beforeMinor) * 1_000n) / beforeMinor) / 1_000);
}
