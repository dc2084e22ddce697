import { daysOfMonth, monthAfter, monthOfDay, type Days } from '../calendar/months.ts';

/** The days of a report, inclusive, and the day on which its months begin. */
export interface Period extends Days {
  readonly firstDay: number;
}

/** Numbers of months to choose from. */
export const periodCounts: readonly number[] = [3, 6, 12, 24, 60];

/** `count` whole months, ending with `last` (`YYYY-MM`). */
export function periodOfMonths(last: string, count: number, firstDay: number): Period {
  return {
    first: daysOfMonth(monthAfter(last, 1 - count), firstDay).first,
    last: daysOfMonth(last, firstDay).last,
    firstDay,
  };
}

/** The months of a period, oldest first. The first and the last one may lie partly outside of it. */
export function monthsOf({ first, last, firstDay }: Period): string[] {
  return monthsFromTo(monthOfDay(first, firstDay), monthOfDay(last, firstDay)).toReversed();
}

/** The days of a month that belong to the period. */
export function daysIn({ first, last, firstDay }: Period, month: string): Days {
  const days = daysOfMonth(month, firstDay);
  return { first: days.first < first ? first : days.first, last: days.last > last ? last : days.last };
}

/** The same days a year earlier. If the period ends at the end of a calendar month, so does the result. */
export function yearBefore({ first, last, firstDay }: Period): Period {
  const lastMonth = monthAfter(last.slice(0, 7), -12);
  const isMonthEnd = daysOfMonth(last.slice(0, 7), 1).last === last;
  return {
    first: dayYearBefore(first),
    last: isMonthEnd ? daysOfMonth(lastMonth, 1).last : dayYearBefore(last),
    firstDay,
  };
}

/** Returns the same day of the previous year; 28 February for 29 February. */
function dayYearBefore(day: string): string {
  const month = monthAfter(day.slice(0, 7), -12);
  return day.endsWith('-02-29') ? `${month}-28` : `${month}${day.slice(7)}`;
}

/** All months from the first to the last with entries, newest first; `YYYY-MM`. Empty if both are null. */
export function monthsFromTo(first: string | null, last: string | null): string[] {
  const months: string[] = [];
  if (first === null || last === null) return months;
  for (let month = last; month >= first; month = monthAfter(month, -1)) months.push(month);
  return months;
}
