import { newId, type SqlStatement } from '@rockpool/client';
import type { ScheduleRow } from '../queries/schedules.ts';
import { sideWithCategory } from '../transfers/side-with-category.ts';
import type { Writer } from '../writer.ts';

/** The user-editable fields of a scheduled entry. */
export type ScheduleFields = Pick<
  ScheduleRow,
  | 'accountId'
  | 'otherAccountId'
  | 'payee'
  | 'notes'
  | 'categoryId'
  | 'amountMinor'
  | 'firstDate'
  | 'every'
  | 'unit'
  | 'lastDate'
>;

const columns = [
  'accountId',
  'otherAccountId',
  'payee',
  'notes',
  'categoryId',
  'amountMinor',
  'firstDate',
  'every',
  'unit',
  'lastDate',
] as const;

/** Resolves to the new schedule's id. */
export async function addSchedule(writer: Writer, fields: ScheduleFields): Promise<string> {
  const id = newId();
  await writer.execute(insertion(id, fields));
  return id;
}

function insertion(id: string, fields: ScheduleFields): SqlStatement {
  return {
    sql: `INSERT INTO schedules (id, createdAtMs, ${columns.join(', ')}) VALUES (?, ?${', ?'.repeat(columns.length)})`,
    params: [id, Date.now(), ...columns.map((column) => fields[column])],
  };
}

/**
 * Writes only the differences. Entries already made from the schedule stay as they are. A schedule that was deleted
 * since its form was opened is added again with the same id, so its past days stay done.
 */
export async function changeSchedule(
  writer: Writer,
  id: string,
  before: ScheduleFields,
  after: ScheduleFields,
): Promise<void> {
  const changed = columns.filter((column) => before[column] !== after[column]);
  const isThere = (await writer.query('SELECT 1 FROM schedules WHERE id = ?', [id])).length > 0;
  if (!isThere) await writer.execute(insertion(id, after));
  else if (changed.length > 0)
    await writer.execute(`UPDATE schedules SET ${changed.map((column) => `${column} = ?`).join(', ')} WHERE id = ?`, [
      ...changed.map((column) => after[column]),
      id,
    ]);
}

/** Entries that were made from the schedule are kept. */
export async function deleteSchedule(writer: Writer, id: string): Promise<void> {
  await writer.execute('DELETE FROM schedules WHERE id = ?', [id]);
}

/** One day of a schedule. */
export interface DueDay {
  readonly schedule: ScheduleRow;
  readonly date: string;
}

/**
 * Creates the entries of these days in one transaction. Keys are derived from schedule and day: a second click, another
 * tab or another device, online or offline, creates the same rows and no others.
 */
export async function enterDays(writer: Writer, days: readonly DueDay[]): Promise<void> {
  await writer.batch(
    days.flatMap((day, index): SqlStatement[] => [
      ...entriesOf(day, Date.now() + index),
      doneWith(day.schedule.id, day.date, 'entered'),
    ]),
  );
}

/** One entry, or both sides of a transfer. */
function entriesOf({ schedule, date }: DueDay, enteredAtMs: number): SqlStatement[] {
  const { id, accountId, accountKind, otherAccountId, otherAccountKind, payee, notes, categoryId, amountMinor } =
    schedule;
  const key = dayKey(id, date);
  const entry = (
    entryId: string,
    account: string,
    category: string | null,
    minor: number,
    transferId: string | null,
  ): SqlStatement => ({
    sql: `INSERT INTO entries (id, accountId, date, payee, notes, categoryId, amountMinor, enteredAtMs, transferId) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
          ON CONFLICT (id) DO NOTHING`,
    params: [entryId, account, date, payee, notes, category, minor, enteredAtMs, transferId],
  });
  if (otherAccountId === null || otherAccountKind === null)
    return [entry(key, accountId, categoryId, amountMinor, null)];
  const side = sideWithCategory(accountKind, otherAccountKind);
  return [
    entry(key, accountId, side === 'this' ? categoryId : null, amountMinor, key),
    entry(`${key}/other`, otherAccountId, side === 'other' ? categoryId : null, 0 - amountMinor, key),
  ];
}

/** Marks the day as not to be entered. */
export async function skipDay(writer: Writer, { schedule, date }: DueDay): Promise<void> {
  await writer.batch([doneWith(schedule.id, date, 'skipped')]);
}

function doneWith(scheduleId: string, date: string, outcome: 'entered' | 'skipped'): SqlStatement {
  return {
    sql: 'INSERT INTO scheduleDays (id, scheduleId, date, outcome) VALUES (?, ?, ?, ?) ON CONFLICT (id) DO NOTHING',
    params: [dayKey(scheduleId, date), scheduleId, date, outcome],
  };
}

/** The statement that marks a day as entered, for an entry that came from elsewhere. */
export function markEntered(scheduleId: string, date: string): SqlStatement {
  return doneWith(scheduleId, date, 'entered');
}

/** The id of a day's row, and of the entry that is created for it. */
export function dayKey(scheduleId: string, date: string): string {
  return `${scheduleId}/${date}`;
}
