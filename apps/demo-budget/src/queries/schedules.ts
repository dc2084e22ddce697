import type { AccountKind, ScheduleUnit } from '../schema.ts';

export interface ScheduleRow {
  readonly id: string;
  readonly accountId: string;
  readonly accountName: string;
  readonly accountKind: AccountKind;
  readonly currency: string;
  /** For a transfer: the target account; otherwise NULL, as are its name and kind. */
  readonly otherAccountId: string | null;
  readonly otherAccountName: string | null;
  readonly otherAccountKind: AccountKind | null;
  readonly payee: string;
  readonly notes: string;
  readonly categoryId: string | null;
  readonly amountMinor: number;
  readonly firstDate: string;
  readonly every: number;
  readonly unit: ScheduleUnit;
  readonly lastDate: string | null;
}

/** Scheduled entries of open accounts, by payee, transfers first. No parameters. */
export const schedulesByPayee = `
  SELECT schedule.id, schedule.accountId, account.name AS accountName, account.kind AS accountKind, account.currency,
         schedule.otherAccountId, other.name AS otherAccountName, other.kind AS otherAccountKind, schedule.payee, schedule.notes, schedule.categoryId,
         schedule.amountMinor, schedule.firstDate, schedule.every, schedule.unit, schedule.lastDate
  FROM schedules AS schedule
    JOIN accounts AS account ON account.id = schedule.accountId AND account.closed = 0
    LEFT JOIN accounts AS other ON other.id = schedule.otherAccountId
  WHERE coalesce(other.closed, 0) = 0
  ORDER BY schedule.payee COLLATE NOCASE, other.name COLLATE NOCASE, schedule.id`;

export interface ScheduleDayRow {
  readonly scheduleId: string;
  readonly date: string;
}

/** The days of schedules that were entered or skipped. No parameters. */
export const scheduleDaysDone = `
  SELECT day.scheduleId, day.date FROM scheduleDays AS day JOIN schedules AS schedule ON schedule.id = day.scheduleId`;
