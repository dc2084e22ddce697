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

/** Months since the year 0. */
function monthNumber(month: string): number {
  const [year = 1970, ofYear = 1] = month.split('-').map(Number);
  return year * 12 + ofYear - 1;
}
