import type { ReactNode } from 'react';
import { formatMinorRounded } from '../money/format.ts';
import { formatMonth, locale } from '../shell/locale.ts';
import { barShare, type SpendingReport } from './spending.ts';

// Units of the drawing. The style keeps a month at least 3rem wide, so that labels stay readable; more months scroll.
const barHeight = 120;
const barWidth = 34;
const step = 64;

/** Spending of each month as bars. Decoration beside the table, which says the same to everyone; so it is hidden from screen readers. */
export function MonthBars({ report, currency }: { readonly report: SpendingReport; readonly currency: string }): ReactNode {
  const largest = report.totalMinorByMonth.reduce((most, total) => (total > most ? total : most), 0n);
  return (
    <svg className="month-bars" style={{ minWidth: `${report.months.length * 3}rem` }} viewBox={`0 0 ${report.months.length * step} ${barHeight + 48}`} aria-hidden="true">
      {report.months.map((month, index) => {
        const total = report.totalMinorByMonth[index] ?? 0n;
        const height = Math.max(barShare(total, largest) * barHeight, total > 0n ? 2 : 0);
        const middle = index * step + step / 2;
        return (
          <g key={month}>
            <rect x={middle - barWidth / 2} y={20 + barHeight - height} width={barWidth} height={height} rx="4" />
            {total > 0n && (
              <text className="bar-value" x={middle} y={14 + barHeight - height}>
                {formatMinorRounded(total, currency, locale)}
              </text>
            )}
            <text x={middle} y={barHeight + 40}>
              {formatMonth(month)}
            </text>
          </g>
        );
      })}
    </svg>
  );
}
