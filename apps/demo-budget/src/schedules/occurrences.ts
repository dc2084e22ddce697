import { monthAfter } from '../calendar/months.ts';
import type { ScheduleRow } from '../queries/schedules.ts';

export type Repetition = Pick<ScheduleRow, 'firstDate' | 'every' | 'unit' | 'lastDate'>;

/**
 * The days of a schedule up to a day, oldest first. Each is counted from the first one, so that a schedule on the 31st
 * stays on the 31st; shorter months use their last day.
 */
export function occurrences({ firstDate, every, unit, lastDate }: Repetition, upTo: string): string[] {
  const end = lastDate !== null && lastDate < upTo ? lastDate : upTo;
  const days: string[] = [];
  const stride = Math.max(1, every);
  for (let count = 0; ; count += stride) {
    const day = dayAfter(firstDate, count, unit);
    if (!(day <= end)) return days;
    days.push(day);
  }
}

/** The days up to a day that were neither entered nor skipped. */
export function openDays(repetition: Repetition, done: ReadonlySet<string>, upTo: string): string[] {
  return occurrences(repetition, upTo).filter((day) => !done.has(day));
}

/** The first occurrence after a day; undefined if the schedule has ended. */
export function nextDay(repetition: Repetition, after: string): string | undefined {
  // Looks two periods ahead, because months differ in length: one month after 28 February is 28 March, but the next
  // occurrence may be the 31st.
  const farthest = dayAfter(
    after > repetition.firstDate ? after : repetition.firstDate,
    2 * Math.max(1, repetition.every),
    repetition.unit,
  );
  return occurrences(repetition, farthest).find((day) => day > after);
}

/** `count` units after a `YYYY-MM-DD`. */
export function dayAfter(date: string, count: number, unit: Repetition['unit']): string {
  if (unit === 'month' || unit === 'year') {
    const month = monthAfter(date.slice(0, 7), unit === 'year' ? count * 12 : count);
    const [year = 1970, ofYear = 1] = month.split('-').map(Number);
    const lastOfMonth = new Date(Date.UTC(year, ofYear, 0)).getUTCDate();
    return `${month}-${String(Math.min(Number(date.slice(8)), lastOfMonth)).padStart(2, '0')}`;
  }
  const ms = Date.parse(`${date}T00:00:00Z`) + count * (unit === 'week' ? 7 : 1) * 86_400_000;
  return Number.isNaN(ms) ? '9999-12-31' : new Date(ms).toISOString().slice(0, 10);
}
