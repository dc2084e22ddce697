import { fail, succeed, type Result } from '../../result.ts';

/** The order in which a bank writes year, month and day. Any separators are accepted. */
export type DateOrder = 'year-month-day' | 'day-month-year' | 'month-day-year' | 'year-day-month';

export const dateOrders: readonly DateOrder[] = [
  'year-month-day',
  'day-month-year',
  'month-day-year',
  'year-day-month',
];

export type DateProblem =
  | { readonly code: 'date-missing' }
  | { readonly code: 'date-unreadable' }
  | { readonly code: 'date-impossible' };

/** Two-digit years from here on belong to the 1900s: bank exports begin in about 1970. */
const firstYearOf1900s = 70;

/**
 * Reads `2025-01-31`, `20250131`, `31.01.2025`, `31/01/2025`, `01/31/2025`, `31-01-25`, `1/31'25`, each optionally
 * followed by a time, as ISO `2025-01-31`. The time is dropped: a ledger entry has a day. A named month, as in
 * `31 Jan 2025` or `Jan 31, 2025`, needs no order.
 */
export function parseDate(text: string, order: DateOrder): Result<string, DateProblem> {
  const trimmed = text.trim().replace(/[T\s]+\d{1,2}:\d{2}.*$/u, '');
  if (trimmed === '') return fail({ code: 'date-missing' });
  const compact = /^(\d{4})(\d{2})(\d{2})$/.exec(trimmed);
  if (compact !== null) {
    if (order === 'year-month-day') return isoDate(compact[1], compact[2], compact[3]);
    return order === 'year-day-month' ? isoDate(compact[1], compact[3], compact[2]) : fail({ code: 'date-unreadable' });
  }
  if (/\p{L}/u.test(trimmed)) return dateWithMonthName(trimmed);
  // Both separators must be equal: "1.2.3" is a date, "1.2-3" is not. Quicken writes years since 2000 as "1/31'25".
  const parts = /^(\d{1,4})([.\-/]|\. )(\d{1,2})(?:\2|')\s?(\d{1,4})\.?$/.exec(trimmed);
  if (parts === null) return fail({ code: 'date-unreadable' });
  const [, first, , second, third] = parts;
  switch (order) {
    case 'year-month-day':
      return isoDate(first, second, third);
    case 'day-month-year':
      return isoDate(third, second, first);
    case 'month-day-year':
      return isoDate(third, first, second);
    case 'year-day-month':
      return (first ?? '').length === 4 ? isoDate(first, third, second) : fail({ code: 'date-unreadable' });
  }
}

/** Languages of banks that write months as names. */
const monthLanguages = ['en', 'de', 'fr', 'es', 'it', 'nl', 'pt'];

let monthByName: ReadonlyMap<string, number> | null = null;

/** Months by the first three letters and by the full name, without accents and points. */
function months(): ReadonlyMap<string, number> {
  if (monthByName !== null) return monthByName;
  const names = new Map<string, number>();
  for (const language of monthLanguages) {
    for (const style of ['long', 'short'] as const) {
      const format = new Intl.DateTimeFormat(language, { month: style, timeZone: 'UTC' });
      for (let month = 1; month <= 12; month += 1) {
        const name = plainName(format.format(Date.UTC(2025, month - 1, 15)));
        // Languages share most abbreviations, and agree on them.
        for (const key of [name, name.slice(0, 3)]) if (!names.has(key)) names.set(key, month);
      }
    }
  }
  monthByName = names;
  return names;
}

function plainName(name: string): string {
  return name
    .normalize('NFD')
    .replace(/[^\p{L}]/gu, '')
    .toLowerCase();
}

function dateWithMonthName(text: string): Result<string, DateProblem> {
  const parts =
    /^(?<day>\d{1,2})\.?[\s\-/]*(?:de )?(?<month>\p{L}{3,12})\.?[\s\-/,]*(?:de )?(?<year>\d{2,4})$/u.exec(text) ??
    /^(?<month>\p{L}{3,12})\.?[\s\-/]*(?<day>\d{1,2})[\s\-/,]+(?<year>\d{2,4})$/u.exec(text) ??
    /^(?<year>\d{4})[\s\-/]*(?<month>\p{L}{3,12})\.?[\s\-/]*(?<day>\d{1,2})$/u.exec(text);
  const month = months().get(plainName(parts?.groups?.['month'] ?? ''));
  if (parts?.groups === undefined || month === undefined) return fail({ code: 'date-unreadable' });
  return isoDate(parts.groups['year'], String(month), parts.groups['day']);
}

function isoDate(yearText = '', monthText = '', dayText = ''): Result<string, DateProblem> {
  if (![2, 4].includes(yearText.length) || monthText.length > 2 || dayText.length > 2)
    return fail({ code: 'date-unreadable' });
  const shortYear = Number(yearText);
  const year = yearText.length === 4 ? shortYear : shortYear + (shortYear >= firstYearOf1900s ? 1900 : 2000);
  const month = Number(monthText);
  const day = Number(dayText);
  // A year such as 0025 is a misread day, not a date.
  if (year < 1900 || month < 1 || month > 12 || day < 1 || day > daysInMonth(year, month))
    return fail({ code: 'date-impossible' });
  return succeed(`${year}-${String(month).padStart(2, '0')}-${String(day).padStart(2, '0')}`);
}

function daysInMonth(year: number, month: number): number {
  return new Date(Date.UTC(year, month, 0)).getUTCDate();
}

export interface RecognisedDateOrder {
  /** The most likely order. */
  readonly order: DateOrder;
  /** The other orders that also read every date, but as different days: the user has to choose. */
  readonly alternatives: readonly DateOrder[];
}

/**
 * Detects the order that reads most of the column's dates. `04/05/2025` fits two orders; a day over 12 anywhere in the
 * column settles it. If nothing does, the order that keeps the file sorted by date comes first and the rest are
 * alternatives.
 */
export function recogniseDateOrder(dates: readonly string[]): RecognisedDateOrder {
  const filled = dates.filter((date) => date.trim() !== '');
  const readings = dateOrders.map((order) => {
    const read = filled.map((date) => parseDate(date, order)).flatMap((result) => (result.ok ? [result.value] : []));
    return { order, read, sorted: isSorted(read) };
  });
  // A four-digit year first, or points as separators, allows only one order. Two digits first are a year in few
  // countries, so that order is tried last.
  const rank = (order: DateOrder): number => {
    const fourFirst = filled.some((date) => /^\d{4}/.test(date.trim()));
    const preference: readonly DateOrder[] = fourFirst
      ? dateOrders
      : ['day-month-year', 'month-day-year', 'year-month-day', 'year-day-month'];
    return preference.indexOf(order);
  };
  // The order year, day, month is rare, so it counts only if no other order reads the column.
  const isLastResort = ({ order }: { readonly order: DateOrder }): number => Number(order === 'year-day-month');
  readings.sort(
    (a, b) =>
      b.read.length - a.read.length ||
      isLastResort(a) - isLastResort(b) ||
      Number(b.sorted) - Number(a.sorted) ||
      rank(a.order) - rank(b.order),
  );
  const best = readings[0];
  if (best === undefined) return { order: 'year-month-day', alternatives: [] };
  const pointsBetween = filled.every((date) => /^\d{1,2}\.\s?\d{1,2}\./.test(date.trim()));
  if (pointsBetween) return { order: 'day-month-year', alternatives: [] };
  const alternatives = readings.slice(1).filter(({ order, read }) => {
    const twoDigitYearFirst = order.startsWith('year') || best.order.startsWith('year');
    return (
      !twoDigitYearFirst && read.length === best.read.length && read.some((date, index) => date !== best.read[index])
    );
  });
  return { order: best.order, alternatives: alternatives.map(({ order }) => order) };
}

function isSorted(dates: readonly string[]): boolean {
  const ascending = dates.every((date, index) => index === 0 || (dates[index - 1] ?? '') <= date);
  return ascending || dates.every((date, index) => index === 0 || (dates[index - 1] ?? '') >= date);
}
