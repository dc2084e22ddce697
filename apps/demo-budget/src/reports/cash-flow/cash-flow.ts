import type { CashFlowRow } from '../../queries/reports.ts';
import { formatMonth, formatMonthInFull } from '../../shell/locale.ts';
import type { ChartColumn } from '../chart/column-chart.tsx';

/** Income and spending of a month. */
export interface MonthFlow {
  /** `YYYY-MM`. */
  readonly month: string;
  readonly incomeMinor: bigint;
  /** Positive when spending exceeds refunds. */
  readonly spentMinor: bigint;
  /** Income less spending; negative when more was spent. */
  readonly keptMinor: bigint;
}

export function cashFlow(rows: readonly CashFlowRow[], months: readonly string[]): MonthFlow[] {
  const changes = new Map(rows.map(({ month, side, changeMinor }) => [`${month} ${side}`, BigInt(changeMinor)]));
  return months.map((month) => {
    const incomeMinor = changes.get(`${month} income`) ?? 0n;
    const spentMinor = -(changes.get(`${month} spending`) ?? 0n);
    return { month, incomeMinor, spentMinor, keptMinor: incomeMinor - spentMinor };
  });
}

/** The total of all months. */
export function totalOf(flows: readonly MonthFlow[]): Omit<MonthFlow, 'month'> {
  return flows.reduce(
    (total, { incomeMinor, spentMinor, keptMinor }) => ({
      incomeMinor: total.incomeMinor + incomeMinor,
      spentMinor: total.spentMinor + spentMinor,
      keptMinor: total.keptMinor + keptMinor,
    }),
    { incomeMinor: 0n, spentMinor: 0n, keptMinor: 0n },
  );
}

/**
 * Two bars for each month, and a line for the net.
 *
 * @param flowsBefore the same months a year earlier
 */
export function cashFlowColumns(flows: readonly MonthFlow[], flowsBefore: readonly MonthFlow[] = []): ChartColumn[] {
  return flows.map(({ month, incomeMinor, spentMinor, keptMinor }, index) => ({
    id: month,
    label: formatMonth(month),
    title: formatMonthInFull(month),
    bars: [
      [{ id: 'income', name: 'Income', minor: incomeMinor, colour: '--chart-in' }],
      [{ id: 'spending', name: 'Spending', minor: spentMinor, colour: '--chart-out' }],
    ],
    lineMinor: keptMinor,
    summary: [
      { name: 'Net', minor: keptMinor },
      ...(flowsBefore[index] === undefined
        ? []
        : [{ name: 'Net a year earlier', minor: flowsBefore[index].keptMinor }]),
    ],
  }));
}
