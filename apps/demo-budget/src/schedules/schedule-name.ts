import type { ScheduleRow } from '../queries/schedules.ts';

/** The label of a scheduled entry: its payee, or the target account of a transfer. */
export function scheduleName({ otherAccountName, payee }: Pick<ScheduleRow, 'otherAccountName' | 'payee'>): string {
  return otherAccountName === null ? payee : `Transfer to ${otherAccountName}`;
}
