import type { ReactNode } from 'react';
import { formatMinorRounded } from '../../money/format.ts';
import { locale } from '../../shell/locale.ts';
import { barShare, type SpendingReport } from './spending.ts';
import { colourOfLine } from './spending-columns.ts';

export interface CategoryRankingProps {
  readonly report: SpendingReport;
  readonly currency: string;
  /** NULL: uncategorised entries; undefined: all categories. */
  readonly chosen: string | null | undefined;
  readonly onChoose: (categoryId: string | null | undefined) => void;
}

const percentFormat = new Intl.NumberFormat(locale, { style: 'percent' });

/**
 * The categories by spending, largest first, each with its share. It is the legend of the chart beside it; clicking a
 * category hides the others, clicking it again shows them.
 */
export function CategoryRanking({ report, currency, chosen, onChoose }: CategoryRankingProps): ReactNode {
  const largest = report.lines[0]?.totalMinor ?? 0n;
  return (
    <ul className="ranking">
      {report.lines.map(({ categoryId, name, totalMinor }, index) => (
        <li key={categoryId ?? ''}>
          <button
            type="button"
            aria-pressed={chosen === categoryId}
            onClick={() => onChoose(chosen === categoryId ? undefined : categoryId)}
          >
            <span className="ranking-name">
              <i className="swatch" style={{ background: `var(${colourOfLine(index)})` }} />
              {name}
            </span>
            <span className="amount">{formatMinorRounded(totalMinor, currency, locale)}</span>
            <span className="ranking-share">{percentFormat.format(barShare(totalMinor, report.totalMinor))}</span>
            <span className="ranking-bar" aria-hidden="true">
              <span
                style={{
                  inlineSize: `${barShare(totalMinor, largest) * 100}%`,
                  background: `var(${colourOfLine(index)})`,
                }}
              />
            </span>
          </button>
        </li>
      ))}
    </ul>
  );
}
