import { formatMonth, formatMonthInFull } from '../../shell/locale.ts';
import type { ChartColumn, ChartSegment } from '../chart/column-chart.tsx';
import type { SpendingLine, SpendingReport } from './spending.ts';

/** As many colours as are easy to distinguish; each has a custom property `--series-1` and so on. */
const namedLines = 6;

const restColour = '--series-rest';

/** The segment of all categories without their own colour. */
export const restId = 'rest';

/** The colour of the report's line at an index: its own for the largest, a shared one for the rest. */
export function colourOfLine(index: number): string {
  return index < namedLines ? `--series-${index + 1}` : restColour;
}

/**
 * A column per month, with the largest categories and all others combined; or with a single category if one is
 * selected.
 *
 * @param before the same days a year earlier
 */
export function spendingColumns(
  report: SpendingReport,
  onlyCategory: string | null | undefined,
  before?: SpendingReport,
): ChartColumn[] {
  const minorBefore = (index: number): bigint | undefined =>
    onlyCategory === undefined
      ? before?.totalMinorByMonth[index]
      : before?.lines.find(({ categoryId }) => categoryId === onlyCategory)?.spentMinorByMonth[index];
  return report.months.map((month, index) => {
    const segments =
      onlyCategory === undefined
        ? segmentsOf(report, index)
        : report.lines.flatMap((line, rank) =>
            line.categoryId === onlyCategory ? [segment(line, index, colourOfLine(rank))] : [],
          );
    const beforeMinor = minorBefore(index);
    const totalMinor = segments.reduce((sum, { minor }) => sum + minor, 0n);
    return {
      id: month,
      label: formatMonth(month),
      title: formatMonthInFull(month),
      bars: [segments],
      summary: [
        { name: segments.length === 1 ? (segments[0]?.name ?? '') : 'Total', minor: totalMinor },
        ...(beforeMinor === undefined ? [] : [{ name: 'A year earlier', minor: beforeMinor }]),
      ],
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
