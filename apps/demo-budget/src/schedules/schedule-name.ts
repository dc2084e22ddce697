import type { ScheduleRow } from '../queries/schedules.ts';

/** What a scheduled entry is called: its payee, or where it moves money to. */
export function scheduleName({ otherAccountName, payee }: Pick<ScheduleRow, 'otherAccountName' | 'payee'>): string {
  return otherAccountName === null ? payee : `Transfer to ${otherAccountName}`;
}
