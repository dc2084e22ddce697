import type { ReactNode } from 'react';
import { Amount } from '../shell/amount.tsx';
import { formatMonthInFull } from '../shell/locale.ts';
import type { EnvelopeMonth } from './envelope-row.tsx';
import type { Envelope, MonthBudget } from './envelopes.ts';

/** The column headings of each month. If there are several months, a row above names them. */
export function TableHead({ months }: { readonly months: readonly string[] }): ReactNode {
  const columns = ['Assigned', 'Spent', 'Available'];
  return (
    <thead role="rowgroup">
      {months.length > 1 && (
        <tr role="row">
          <td role="cell" />
          {months.map((month, index) => (
            <th
              key={month}
              role="columnheader"
              scope="colgroup"
              colSpan={3}
              className={`number month-start${index === 0 ? '' : ' later-month'}`}
            >
              {formatMonthInFull(month)}
            </th>
          ))}
        </tr>
      )}
      <tr role="row">
        <th role="columnheader" scope="col">
          Category
        </th>
        {months.map((month, index) =>
          columns.map((word) => (
            <th
              key={`${month} ${word}`}
              role="columnheader"
              scope="col"
              className={`number${word === 'Assigned' ? ' month-start' : ''}${index === 0 ? '' : ' later-month'}`}
            >
              {word}
            </th>
          )),
        )}
      </tr>
    </thead>
  );
}

/** The sums of several envelopes in one month. */
interface MonthSums extends Pick<MonthBudget, 'assignedMinor' | 'spentMinor' | 'availableMinor'> {
  readonly month: string;
}

/** @param rows the envelopes, each with all months */
export function sumsOf(rows: readonly (readonly EnvelopeMonth[])[]): MonthSums[] {
  return (rows[0] ?? []).map(({ month }, index) => {
    const total = (minorOf: (envelope: Envelope) => bigint): bigint =>
      rows.reduce((sum, months) => sum + (months[index] === undefined ? 0n : minorOf(months[index].envelope)), 0n);
    return {
      month,
      assignedMinor: total(({ assignedMinor }) => assignedMinor),
      spentMinor: total(({ spentMinor }) => spentMinor),
      availableMinor: total(({ availableMinor }) => availableMinor),
    };
  });
}

interface SumRowProps {
  readonly name: string;
  readonly className?: string;
  readonly sums: readonly MonthSums[];
  readonly currency: string;
}

/** The heading of a group with its totals, or the totals of all envelopes. */
export function SumRow({ name, className, sums, currency }: SumRowProps): ReactNode {
  return (
    <tr role="row" className={className}>
      <th role="rowheader" scope={className === undefined ? 'row' : 'rowgroup'}>
        {name}
      </th>
      {sums.map(({ month, assignedMinor, spentMinor, availableMinor }, index) =>
        (
          [
            ['Assigned', assignedMinor],
            ['Spent', spentMinor],
            ['Available', availableMinor],
          ] as const
        ).map(([word, minor]) => (
          <td
            key={`${month} ${word}`}
            role="cell"
            data-of={word}
            className={`number${word === 'Assigned' ? ' month-start' : ''}${index === 0 ? '' : ' later-month'}`}
          >
            <Amount minor={minor} currency={currency} />
          </td>
        )),
      )}
    </tr>
  );
}
