import { monthAfter } from '../calendar/months.ts';

/** The months of a report: `count` of them, ending with `last` (`YYYY-MM`). */
export interface Period {
  readonly last: string;
  readonly count: number;
}

/** Numbers of months to choose from. */
export const periodCounts: readonly number[] = [3, 6, 12, 24, 60];

/**
 * The first and the last day, as `YYYY-MM-DD`. The 31st works as the last day of any month, because days are only
 * compared as text.
 */
export function daysOf(period: Period): { readonly first: string; readonly last: string } {
  return { first: `${monthAfter(period.last, 1 - period.count)}-01`, last: `${period.last}-31` };
}

/** All months from the first to the last with entries, newest first; `YYYY-MM`. Empty if both are null. */
export function monthsFromTo(first: string | null, last: string | null): string[] {
  const months: string[] = [];
  if (first === null || last === null) return months;
  for (let month = last; month >= first; month = monthAfter(month, -1)) months.push(month);
  return months;
}
