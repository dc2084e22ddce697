import { formatMonth, formatMonthInFull } from '../../shell/locale.ts';
import type { ChartColumn, ChartSegment } from '../chart/column-chart.tsx';
import type { SpendingLine, SpendingReport } from './spending.ts';

/** As many as the eye can tell apart; each has a custom property `--series-1` and so on. */
const namedLines = 6;

const restColour = '--series-rest';

/** The segment that stands for all categories without a colour of their own. */
export const restId = 'rest';

/** The colour of the report's line at an index: its own for the largest, one together for the rest. */
export function colourOfLine(index: number): string {
  return index < namedLines ? `--series-${index + 1}` : restColour;
}

/**
 * A column for each month, of the largest categories and of all others together; of a single category where one is
 * asked for.
 */
export function spendingColumns(report: SpendingReport, onlyCategory: string | null | undefined): ChartColumn[] {
  return report.months.map((month, index) => {
    const segments =
      onlyCategory === undefined
        ? segmentsOf(report, index)
        : report.lines.flatMap((line, rank) =>
            line.categoryId === onlyCategory ? [segment(line, index, colourOfLine(rank))] : [],
          );
    const totalMinor = segments.reduce((sum, { minor }) => sum + minor, 0n);
    return {
      id: month,
      label: formatMonth(month),
      title: formatMonthInFull(month),
      bars: [segments],
      summary:
        segments.length === 1
          ? [{ name: segments[0]?.name ?? '', minor: totalMinor }]
          : [{ name: 'Total', minor: totalMinor }],
    };
  });
}

function segmentsOf(report: SpendingReport, month: number): ChartSegment[] {
  const named = report.lines.slice(0, namedLines).map((line, rank) => segment(line, month, colourOfLine(rank)));
  const rest = report.lines.slice(namedLines);
  if (rest.length === 0) return named;
  const minor = rest.reduce((sum, line) => sum + (line.spentMinorByMonth[month] ?? 0n), 0n);
  return [...named, { id: restId, name: 'Other categories', minor, colour: restColour }];
}

function segment(line: SpendingLine, month: number, colour: string): ChartSegment {
  return { id: line.categoryId ?? '', name: line.name, minor: line.spentMinorByMonth[month] ?? 0n, colour };
}
