import { useMemo } from 'react';
import { useToday } from '../budget/view.ts';
import { scheduleDaysDone, schedulesByPayee, type ScheduleDayRow, type ScheduleRow } from '../queries/schedules.ts';
import { useQuery } from '../shell/use-query.ts';
import type { DueDay } from './actions.ts';
import { dayAfter, openDays } from './occurrences.ts';

/** How many days ahead entries are listed: enough to see a week's bills in advance. */
const aheadDays = 7;

export interface Schedules {
  readonly schedules: readonly ScheduleRow[];
  /** Occurrences that are due or soon will be, oldest first. */
  readonly due: readonly DueDay[];
  readonly loading: boolean;
}

export function useSchedules(): Schedules {
  const schedules = useQuery<ScheduleRow>(schedulesByPayee);
  const done = useQuery<ScheduleDayRow>(scheduleDaysDone);
  const upTo = dayAfter(useToday(), aheadDays, 'day');
  const due = useMemo(() => dueDays(schedules.rows, done.rows, upTo), [done.rows, schedules.rows, upTo]);
  return { schedules: schedules.rows, due, loading: schedules.loading || done.loading };
}

function dueDays(schedules: readonly ScheduleRow[], done: readonly ScheduleDayRow[], upTo: string): DueDay[] {
  const doneBySchedule = Map.groupBy(done, (day) => day.scheduleId);
  const days = schedules.flatMap((schedule) => {
    const dates = new Set(doneBySchedule.get(schedule.id)?.map(({ date }) => date));
    return openDays(schedule, dates, upTo).map((date) => ({ schedule, date }));
  });
  return days.sort((a, b) => (a.date < b.date ? -1 : a.date > b.date ? 1 : 0));
}
