import { beforeEach, describe, expect, it } from 'vitest';
import { addAccount } from '../accounts/actions.ts';
import { addCategory } from '../categories/actions.ts';
import { addStarterCategories } from '../categories/starter-categories.ts';
import { importEntries, takeImportBack } from '../import/actions.ts';
import type { ImportDraft } from '../import/rows/preview.ts';
import { scheduleDaysDone, schedulesByPayee, type ScheduleDayRow, type ScheduleRow } from '../queries/schedules.ts';
import { addRule } from '../rules/actions.ts';
import { memoryWriter, type MemoryWriter } from '../../testing/memory-writer.ts';
import { addSchedule, changeSchedule, deleteSchedule, enterDays, skipDay, type ScheduleFields } from './actions.ts';
import { scheduleName } from './schedule-name.ts';
import { nextDay, occurrences, openDays } from './occurrences.ts';

describe('the days of a schedule', () => {
  it.each([
    [
      { firstDate: '2025-01-31', every: 1, unit: 'month', lastDate: null },
      '2025-05-01',
      ['2025-01-31', '2025-02-28', '2025-03-31', '2025-04-30'],
    ],
    [
      { firstDate: '2024-02-29', every: 1, unit: 'year', lastDate: null },
      '2028-12-31',
      ['2024-02-29', '2025-02-28', '2026-02-28', '2027-02-28', '2028-02-29'],
    ],
    [
      { firstDate: '2025-03-28', every: 2, unit: 'week', lastDate: null },
      '2025-04-30',
      ['2025-03-28', '2025-04-11', '2025-04-25'],
    ],
    [
      { firstDate: '2025-12-30', every: 1, unit: 'day', lastDate: '2026-01-01' },
      '2026-02-01',
      ['2025-12-30', '2025-12-31', '2026-01-01'],
    ],
    [{ firstDate: '2025-06-01', every: 1, unit: 'month', lastDate: null }, '2025-05-31', []],
    // The form refuses it, but another device may store it.
    [{ firstDate: '2025-06-01', every: 0, unit: 'day', lastDate: null }, '2025-06-02', ['2025-06-01', '2025-06-02']],
  ] as const)('are right for %o up to %s', (repetition, upTo, days) => {
    expect(occurrences(repetition, upTo)).toEqual(days);
  });

  it('continue after entered days, and end', () => {
    const rent = { firstDate: '2025-01-31', every: 1, unit: 'month', lastDate: '2025-03-31' } as const;
    expect(openDays(rent, new Set(['2025-01-31']), '2025-06-01')).toEqual(['2025-02-28', '2025-03-31']);
    expect([nextDay(rent, '2024-01-01'), nextDay(rent, '2025-02-28'), nextDay(rent, '2025-03-31')]).toEqual([
      '2025-01-31',
      '2025-03-31',
      undefined,
    ]);
  });
});

describe('a scheduled entry', () => {
  let writer: MemoryWriter;
  let fields: ScheduleFields;

  beforeEach(async () => {
    writer = memoryWriter();
    const accountId = await addAccount(writer, {
      name: 'Checking',
      kind: 'checking',
      currency: 'EUR',
      openingMinor: 0,
    });
    fields = {
      accountId,
      otherAccountId: null,
      payee: 'Rent',
      notes: '',
      categoryId: null,
      amountMinor: -70_000,
      firstDate: '2025-01-31',
      every: 1,
      unit: 'month',
      lastDate: null,
    };
    await addSchedule(writer, fields);
  });

  const schedule = (): ScheduleRow => {
    const [row] = writer.rows<ScheduleRow>(schedulesByPayee);
    if (row === undefined) throw new Error('no schedule');
    return row;
  };

  it('is entered once, however often and wherever it is requested', async () => {
    const days = ['2025-01-31', '2025-02-28'].map((date) => ({ schedule: schedule(), date }));
    await enterDays(writer, days);
    await enterDays(writer, days.slice(0, 1));
    expect(writer.rows('SELECT id, date, payee, amountMinor FROM entries ORDER BY date')).toEqual(
      days.map(({ date }) => ({ id: `${schedule().id}/${date}`, date, payee: 'Rent', amountMinor: -70_000 })),
    );
    expect(writer.rows<ScheduleDayRow>(scheduleDaysDone).map(({ date }) => date)).toEqual(['2025-01-31', '2025-02-28']);
  });

  it('is entered once on both sides if it is a transfer, with its category on the on-budget side', async () => {
    const pension = await addAccount(writer, { name: 'Pension', kind: 'off-budget', currency: 'EUR', openingMinor: 0 });
    const saving = await addCategory(writer, 'Saving', 'spending');
    await deleteSchedule(writer, schedule().id);
    await addSchedule(writer, { ...fields, otherAccountId: pension, payee: '', categoryId: saving });
    const day = { schedule: schedule(), date: '2025-01-31' };
    expect(scheduleName(schedule())).toBe('Transfer to Pension');
    await enterDays(writer, [day]);
    await enterDays(writer, [day]);
    const key = `${schedule().id}/2025-01-31`;
    expect(
      writer.rows('SELECT id, accountId, amountMinor, categoryId, transferId FROM entries ORDER BY amountMinor'),
    ).toEqual([
      { id: key, accountId: fields.accountId, amountMinor: -70_000, categoryId: saving, transferId: key },
      { id: `${key}/other`, accountId: pension, amountMinor: 70_000, categoryId: null, transferId: key },
    ]);
  });

  it('is skipped for a day, and leaves its past entries when it is deleted', async () => {
    await skipDay(writer, { schedule: schedule(), date: '2025-01-31' });
    await enterDays(writer, [{ schedule: schedule(), date: '2025-02-28' }]);
    await changeSchedule(writer, schedule().id, schedule(), { ...fields, amountMinor: -72_000 });
    expect(writer.written.at(-1)).toBe('UPDATE schedules SET amountMinor = ? WHERE id = ?');
    await deleteSchedule(writer, schedule().id);
    expect(writer.rows('SELECT date, amountMinor FROM entries')).toEqual([
      { date: '2025-02-28', amountMinor: -70_000 },
    ]);
    expect(writer.rows(scheduleDaysDone)).toEqual([]);
  });
});

/** A schedule without its account. */
const rent: Omit<ScheduleFields, 'accountId'> = {
  otherAccountId: null,
  payee: 'Landlord',
  notes: '',
  categoryId: null,
  amountMinor: -60_000,
  firstDate: '2025-01-01',
  every: 1,
  unit: 'month',
  lastDate: null,
};

/** The row of a statement that the schedule is due for. */
const booked: ImportDraft = {
  importKey: 'a',
  date: '2025-01-01',
  amountMinor: -60_000,
  payee: 'Landlord',
  notes: '',
  categoryName: '',
};

it('a scheduled entry that appears on a statement is marked as entered, and the imported entry gets its category', async () => {
  const writer = memoryWriter();
  await addStarterCategories(writer);
  const accountId = await addAccount(writer, { name: 'A', kind: 'checking', currency: 'EUR', openingMinor: 0 });
  const scheduleId = await addSchedule(writer, { ...rent, accountId, categoryId: 'starter-home' });
  await importEntries(writer, accountId, [
    { ...booked, date: '2025-02-03', payee: 'LANDLORD SEPA' },
    { ...booked, importKey: 'b', date: '2025-02-20' },
    { ...booked, importKey: 'c', date: '2025-02-02', payee: 'Somebody else' },
    { ...booked, importKey: 'd', date: '2025-03-02', categoryName: 'Bills and insurance' },
  ]);
  expect(writer.rows('SELECT id, outcome FROM scheduleDays ORDER BY id')).toEqual([
    { id: `${scheduleId}/2025-02-01`, outcome: 'entered' },
    { id: `${scheduleId}/2025-03-01`, outcome: 'entered' },
  ]);
  expect(writer.rows('SELECT id, categoryId FROM entries ORDER BY id')).toEqual([
    { id: 'a', categoryId: 'starter-home' },
    { id: 'b', categoryId: null },
    { id: 'c', categoryId: null },
    { id: 'd', categoryId: 'starter-bills' },
  ]);
});

it('a scheduled entry gives no category to an imported entry that a rule has split', async () => {
  const writer = memoryWriter();
  await addStarterCategories(writer);
  const accountId = await addAccount(writer, { name: 'A', kind: 'checking', currency: 'EUR', openingMinor: 0 });
  await addSchedule(writer, { ...rent, accountId, categoryId: 'starter-home' });
  await addRule(writer, {
    needs: 'all',
    conditions: [{ field: 'payee', test: 'contains', value: 'landlord' }],
    categoryId: null,
    payee: null,
    notes: null,
    status: null,
    split: [
      { categoryId: 'starter-home', percent: 80 },
      { categoryId: 'starter-bills', percent: null },
    ],
  });
  await importEntries(writer, accountId, [booked]);
  expect(writer.rows('SELECT categoryId FROM entries')).toEqual([{ categoryId: null }]);
  expect(writer.rows('SELECT outcome FROM scheduleDays')).toEqual([{ outcome: 'entered' }]);
});

it('a scheduled transfer stays due after an import, which has only one of its sides', async () => {
  const writer = memoryWriter();
  const account = { kind: 'checking', currency: 'EUR', openingMinor: 0 } as const;
  const accountId = await addAccount(writer, { ...account, name: 'A' });
  const otherAccountId = await addAccount(writer, { ...account, name: 'B' });
  await addSchedule(writer, { ...rent, accountId, otherAccountId, payee: '' });
  await expect(importEntries(writer, accountId, [{ ...booked, payee: 'Savings' }])).resolves.toEqual({
    addedIds: ['a'],
    matchedDays: [],
  });
  expect(writer.rows('SELECT id FROM scheduleDays')).toEqual([]);
});

it('a scheduled entry stays due after an import into another account', async () => {
  const writer = memoryWriter();
  const account = { kind: 'checking', currency: 'EUR', openingMinor: 0 } as const;
  await addSchedule(writer, { ...rent, accountId: await addAccount(writer, { ...account, name: 'A' }) });
  await importEntries(writer, await addAccount(writer, { ...account, name: 'B' }), [booked]);
  expect(writer.rows('SELECT id FROM scheduleDays')).toEqual([]);
});

it('a scheduled entry is due again after its import is undone, unless the imported entry stays', async () => {
  const writer = memoryWriter();
  const accountId = await addAccount(writer, { name: 'A', kind: 'checking', currency: 'EUR', openingMinor: 0 });
  await addSchedule(writer, { ...rent, accountId });
  const [schedule] = writer.rows<ScheduleRow>(schedulesByPayee);
  if (schedule === undefined) throw new Error('no schedule');
  await skipDay(writer, { schedule, date: '2025-01-01' });
  const imported = await importEntries(writer, accountId, [
    { ...booked, date: '2025-01-02' },
    { ...booked, importKey: 'b', date: '2025-02-03' },
    { ...booked, importKey: 'c', date: '2025-03-03' },
  ]);
  const days = (): unknown[] => writer.rows('SELECT date, outcome FROM scheduleDays ORDER BY date');
  expect(days()).toEqual([
    { date: '2025-01-01', outcome: 'skipped' },
    { date: '2025-02-01', outcome: 'entered' },
    { date: '2025-03-01', outcome: 'entered' },
  ]);
  await writer.execute("UPDATE entries SET status = 'reconciled' WHERE id = 'c'");
  await expect(takeImportBack(writer, imported)).resolves.toBe(2);
  expect(days()).toEqual([
    { date: '2025-01-01', outcome: 'skipped' },
    { date: '2025-03-01', outcome: 'entered' },
  ]);
});
