import type { SqlStatement } from '@rockpool/client';
import type { ImportDraft } from '../import/rows/preview.ts';
import { findAlike } from '../import/rows/likeness.ts';
import { lacksCategory } from '../queries/payees.ts';
import { scheduleDaysDone, schedulesByPayee, type ScheduleDayRow, type ScheduleRow } from '../queries/schedules.ts';
import type { Writer } from '../writer.ts';
import { dayKey, markEntered, type DueDay } from './actions.ts';
import { dayAfter, openDays } from './occurrences.ts';

/** The bank may book a few days late, and a schedule may be due just after the statement ends. */
const daysAround = 4;

/**
 * The scheduled entries of an account that the statement has: the same amount within four days, with a common word in
 * the payee. Transfers are omitted, because an import has only one side.
 */
export async function scheduledInImport(
  writer: Pick<Writer, 'query'>,
  accountId: string,
  drafts: readonly ImportDraft[],
): Promise<(DueDay & { readonly draft: ImportDraft })[]> {
  const days = drafts.map(({ date }) => date).sort();
  const [first, last] = [days[0], days.at(-1)];
  if (first === undefined || last === undefined) return [];
  const schedules = await writer.query<ScheduleRow>(schedulesByPayee);
  const done = Map.groupBy(await writer.query<ScheduleDayRow>(scheduleDaysDone), ({ scheduleId }) => scheduleId);
  const due = schedules
    .filter((schedule) => schedule.accountId === accountId && schedule.otherAccountId === null)
    .flatMap((schedule) => {
      const doneDays = new Set(done.get(schedule.id)?.map(({ date }) => date));
      return openDays(schedule, doneDays, dayAfter(last, daysAround, 'day'))
        .filter((date) => date >= dayAfter(first, -daysAround, 'day'))
        .map((date) => ({ schedule, date }));
    });
  const dueById = new Map(due.map((day) => [`${day.schedule.id}/${day.date}`, day]));
  const alike = findAlike(
    drafts,
    [...dueById].map(([id, { schedule, date }]) => ({
      id,
      importKey: null,
      date,
      payee: schedule.payee,
      amountMinor: schedule.amountMinor,
    })),
  );
  return [...alike].flatMap(([draft, { id }]) => {
    const day = dueById.get(id);
    return day === undefined ? [] : [{ ...day, draft }];
  });
}

/** A day of a schedule that an import marked as entered. */
export interface MatchedDay {
  /** The id of the row in `scheduleDays`. */
  readonly dayId: string;
  /** The imported entry. */
  readonly entryId: string;
}

/**
 * Marks scheduled entries as entered if an import contains them, and gives the imported entries the category of the
 * schedule if they have none. Resolves to the days that it marked, without those that another device or tab marked
 * meanwhile.
 */
export async function matchImport(
  writer: Writer,
  accountId: string,
  drafts: readonly ImportDraft[],
): Promise<MatchedDay[]> {
  const matches = await scheduledInImport(writer, accountId, drafts);
  if (matches.length === 0) return [];
  const results = await writer.batch([
    ...matches.map(({ schedule, date }) => markEntered(schedule.id, date)),
    ...matches.map(({ schedule, draft }) => ({
      sql: `UPDATE entries SET categoryId = ? WHERE id = ? AND ? IS NOT NULL AND ${lacksCategory}`,
      params: [schedule.categoryId, draft.importKey, schedule.categoryId],
    })),
  ]);
  return matches
    .filter((_, index) => results[index]?.changes === 1)
    .map(({ schedule, date, draft }) => ({ dayId: dayKey(schedule.id, date), entryId: draft.importKey }));
}

/** The statement that makes matched days due again if their imported entries were deleted. */
export function openMatchedDays(matched: readonly MatchedDay[]): SqlStatement {
  return {
    sql: `DELETE FROM scheduleDays WHERE id IN (
            SELECT value ->> 'dayId' FROM json_each(?) WHERE value ->> 'entryId' NOT IN (SELECT id FROM entries))`,
    params: [JSON.stringify(matched)],
  };
}
