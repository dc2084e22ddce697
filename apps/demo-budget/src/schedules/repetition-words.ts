import type { ScheduleUnit } from '../schema.ts';
import type { Repetition } from './occurrences.ts';

export const unitWords: Readonly<Record<ScheduleUnit, readonly [one: string, several: string]>> = {
  day: ['day', 'days'],
  week: ['week', 'weeks'],
  month: ['month', 'months'],
  year: ['year', 'years'],
};

/** `every month`, `every 2 weeks`. */
export function repetitionWords({ every, unit }: Pick<Repetition, 'every' | 'unit'>): string {
  const [one, several] = unitWords[unit];
  return every === 1 ? `every ${one}` : `every ${every} ${several}`;
}
