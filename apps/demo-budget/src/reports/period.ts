import { monthAfter } from '../calendar/months.ts';

/** Which months a report is about: `count` of them that end with `last` (`YYYY-MM`). */
export interface Period {
  readonly last: string;
  readonly count: number;
}

/** Numbers of months to choose from. */
export const periodCounts: readonly number[] = [3, 6, 12, 24, 60];

/**
 * The first and the last day, as `YYYY-MM-DD`. The 31st is the last day of any month where days are only compared as
 * text.
 */
export function daysOf(period: Period): { readonly first: string; readonly last: string } {
  return { first: `${monthAfter(period.last, 1 - period.count)}-01`, last: `${period.last}-31` };
}

/**
 * All months from the first to the last with entries, newest first; `YYYY-MM`. Both may be null: then there are none.
 */
export function monthsFromTo(first: string | null, last: string | null): string[] {
  const months: string[] = [];
  if (first === null || last === null) return months;
  for (let month = last; month >= first; month = monthAfter(month, -1)) months.push(month);
  return months;
}
