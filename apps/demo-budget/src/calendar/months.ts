/** The month `count` months after a `YYYY-MM`, or before it if negative. */
export function monthAfter(month: string, count: number): string {
  const months = monthNumber(month) + count;
  return `${String(Math.floor(months / 12)).padStart(4, '0')}-${String((months % 12) + 1).padStart(2, '0')}`;
}

/** The `count` months that end with `last`, oldest first. */
export function monthsUpTo(last: string, count: number): string[] {
  return Array.from({ length: count }, (_, index) => monthAfter(last, index - count + 1));
}

/** Number of months from `from` to `to`; negative if `to` is earlier. */
export function monthsBetween(from: string, to: string): number {
  return monthNumber(to) - monthNumber(from);
}

/** The first and the last day, as `YYYY-MM-DD`, inclusive. */
export interface Days {
  readonly first: string;
  readonly last: string;
}

/**
 * The month of a day, if months begin on day `firstDay` (1 to 28). A month has the name of the calendar month in which
 * it begins.
 */
export function monthOfDay(day: string, firstDay: number): string {
  const month = day.slice(0, 7);
  return Number(day.slice(8)) >= firstDay ? month : monthAfter(month, -1);
}

/**
 * Whether the value of a date field is a complete day. It is not while the year is being typed (0002), or if the year
 * was typed with two digits (0026).
 */
export function isDay(text: string): boolean {
  return /^[12]\d{3}-\d{2}-\d{2}$/u.test(text);
}

/** Shown for a day with a year such as 0026. */
export const fullYearSentence = 'Enter the year with four digits, such as 2026.';

/** The days of a month that begins on day `firstDay`. */
export function daysOfMonth(month: string, firstDay: number): Days {
  const [year = 1970, ofYear = 1] = monthAfter(month, 1).split('-').map(Number);
  return {
    first: `${month}-${String(firstDay).padStart(2, '0')}`,
    // Day 0 of a month is the last day of the previous month.
    last: new Date(Date.UTC(year, ofYear - 1, firstDay - 1)).toISOString().slice(0, 10),
  };
}

/** Months since the year 0. */
function monthNumber(month: string): number {
  const [year = 1970, ofYear = 1] = month.split('-').map(Number);
  return year * 12 + ofYear - 1;
}
