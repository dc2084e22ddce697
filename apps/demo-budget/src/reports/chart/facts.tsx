import type { ReactNode } from 'react';
import { Amount } from '../../shell/amount.tsx';
import type { ChartFact } from './column-chart.tsx';

/** The key figures of a report. */
export function Facts({
  currency,
  facts,
}: {
  readonly currency: string;
  readonly facts: readonly ChartFact[];
}): ReactNode {
  return (
    <dl className="report-facts">
      {facts.map(({ name, minor }) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            <Amount minor={minor} currency={currency} />
          </dd>
        </div>
      ))}
    </dl>
  );
}
