/** The browser's locale for dates and amounts. */
export const locale: string = typeof navigator === 'undefined' ? 'en' : navigator.language || 'en';

/**
 * A date format with the Gregorian calendar, which the budget, the reports and the date fields use. Some locales, such
 * as Persian, prefer a different calendar, with different months.
 */
export function dateFormat(language: string, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  return new Intl.DateTimeFormat(language, { ...options, calendar: 'gregory' });
}

const dayFormat = dateFormat(locale, { day: 'numeric', month: 'short', year: 'numeric', timeZone: 'UTC' });
const monthFormat = dateFormat(locale, { month: 'short', year: '2-digit', timeZone: 'UTC' });
const fullMonthFormat = dateFormat(locale, { month: 'long', year: 'numeric', timeZone: 'UTC' });
const momentFormat = dateFormat(locale, { dateStyle: 'medium', timeStyle: 'short' });

/** Formats an entry's day. A text that is not a day (another app may have written it) is returned unchanged. */
export function formatDay(date: string): string {
  const ms = Date.parse(`${date}T00:00:00Z`);
  return Number.isNaN(ms) ? date : dayFormat.format(ms);
}

/** A month given as `YYYY-MM`. */
export function formatMonth(month: string): string {
  const ms = Date.parse(`${month}-01T00:00:00Z`);
  return Number.isNaN(ms) ? month : monthFormat.format(ms);
}

/** A month given as `YYYY-MM`, in full. */
export function formatMonthInFull(month: string): string {
  const ms = Date.parse(`${month}-01T00:00:00Z`);
  return Number.isNaN(ms) ? month : fullMonthFormat.format(ms);
}

/** A point in time in the user's time zone. A number outside the range of dates is returned unchanged. */
export function formatMoment(ms: number): string {
  return Number.isNaN(new Date(ms).getTime()) ? String(ms) : momentFormat.format(ms);
}

/** Today in the user's time zone, as `YYYY-MM-DD`. */
export function today(): string {
  const now = new Date();
  return new Date(now.getTime() - now.getTimezoneOffset() * 60_000).toISOString().slice(0, 10);
}
