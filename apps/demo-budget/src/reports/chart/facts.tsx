import type { ReactNode } from 'react';
import { Amount } from '../../shell/amount.tsx';
import type { ChartFact } from './column-chart.tsx';

/** A key figure, and the value of the year before, if it is known. */
export interface ComparedFact extends ChartFact {
  readonly beforeMinor?: bigint | undefined;
}

/** The key figures of a report. */
export function Facts({
  currency,
  facts,
}: {
  readonly currency: string;
  readonly facts: readonly ComparedFact[];
}): ReactNode {
  return (
    <dl className="report-facts">
      {facts.map(({ name, minor, beforeMinor }) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            <Amount minor={minor} currency={currency} />
          </dd>
          {beforeMinor !== undefined && (
            <dd className="hint">
              A year earlier: <Amount minor={beforeMinor} currency={currency} />
            </dd>
          )}
        </div>
      ))}
    </dl>
  );
}
