import { beforeEach, describe, expect, it } from 'vitest';
import { addAccount } from '../accounts/actions.ts';
import { addCategory, setKeepsOverspent } from '../categories/actions.ts';
import { addEntry } from '../entries/actions.ts';
import { categoriesByName, type CategoryRow } from '../queries/categories.ts';
import {
  activityByMonth,
  assignedByMonth,
  uncategorisedSpending,
  type ActivityRow,
  type AssignedRow,
  type UncategorisedSpendingRow,
} from '../queries/envelopes.ts';
import { spendingByMonth } from '../queries/reports.ts';
import { memoryWriter, type MemoryWriter } from '../../testing/memory-writer.ts';
import { setSetting } from '../settings/actions.ts';
import { addTransfer, makeTransfer } from '../transfers/actions.ts';
import { assign, move } from './actions.ts';
import { monthBudget, type MonthBudget } from './envelopes.ts';

let writer: MemoryWriter;
let accountId: string;
let food: string;
let fun: string;
let pay: string;

beforeEach(async () => {
  writer = memoryWriter();
  food = await addCategory(writer, 'Food', 'spending');
  fun = await addCategory(writer, 'Fun', 'spending');
  pay = await addCategory(writer, 'Pay', 'income');
  accountId = await addAccount(writer, { name: 'Checking', kind: 'checking', currency: 'EUR', openingMinor: 10_000 });
});

const enter = (date: string, categoryId: string | null, amountMinor: number): Promise<string> =>
  addEntry(writer, accountId, { date, payee: '', notes: '', categoryId, amountMinor });
const put = (month: string, categoryId: string, amountMinor: number): Promise<void> =>
  assign(writer, [{ month, currency: 'EUR', categoryId, amountMinor }]);

function plan(month: string): MonthBudget {
  return monthBudget({
    month,
    categories: writer.rows<CategoryRow>(categoriesByName),
    assigned: writer.rows<AssignedRow>(assignedByMonth, ['EUR', month]),
    activity: writer.rows<ActivityRow>(activityByMonth, ['EUR', month]),
    openingMinor: 10_000n,
  });
}

const uncategorisedIn = (month: string): unknown =>
  writer.rows<UncategorisedSpendingRow>(uncategorisedSpending, ['EUR', month])[0]?.spentMinor;

function available(month: string): Record<string, bigint> {
  const { envelopes, unassignedMinor } = plan(month);
  return Object.fromEntries([
    ['', unassignedMinor],
    ...envelopes.map(({ name, availableMinor }) => [name, availableMinor]),
  ]) as Record<string, bigint>;
}

describe('a month', () => {
  it('shows assigned, spent and unassigned money', async () => {
    await enter('2026-01-02', pay, 100_000);
    await put('2026-01', food, 30_000);
    await enter('2026-01-15', food, -12_000);
    await enter('2026-01-16', food, 500);
    expect(available('2026-01')).toEqual({ '': 80_000n, Food: 18_500n, Fun: 0n });
  });

  it('reports uncategorised spending, which reduces the money ready to assign', async () => {
    await enter('2026-01-02', null, -30_000);
    await enter('2026-01-03', null, 500);
    await enter('2025-12-31', null, -4_000);
    expect(plan('2026-01').unassignedMinor).toBe(-23_500n);
    // The 500 are income, as in the spending report.
    expect(['2026-01', '2026-02'].map(uncategorisedIn)).toEqual([30_000, 0]);
  });

  it('reports the same uncategorised spending as the report that its link opens', async () => {
    const fields = { notes: '', categoryId: null };
    const cash = await addAccount(writer, { name: 'Cash', kind: 'cash', currency: 'EUR', openingMinor: 0 });
    const dollars = await addAccount(writer, { name: 'Dollars', kind: 'cash', currency: 'USD', openingMinor: 0 });
    const pension = await addAccount(writer, { name: 'Pension', kind: 'off-budget', currency: 'EUR', openingMinor: 0 });
    // Leaves in one month and arrives in the next: banks state different days.
    const out = await enter('2026-01-31', null, -5_000);
    await addEntry(writer, cash, { ...fields, date: '2026-02-01', payee: '', amountMinor: 5_000 });
    const left = { ...fields, date: '2026-01-31', amountMinor: -5_000, otherMinor: 5_000 };
    await makeTransfer(writer, { ...left, id: out }, cash, left, 'none');
    expect(writer.rows('SELECT date FROM entries WHERE transferId IS NOT NULL ORDER BY date')).toEqual([
      { date: '2026-01-31' },
      { date: '2026-02-01' },
    ]);
    const moved = { ...fields, date: '2026-01-10', amountMinor: -7_000 };
    await addTransfer(writer, accountId, dollars, { ...moved, otherMinor: 8_000 });
    await addTransfer(writer, accountId, pension, { ...moved, otherMinor: 7_000 });
    const reported = (): unknown[] => writer.rows(spendingByMonth, ['EUR', '2026-01-01', '2026-01-31']);
    expect([reported(), uncategorisedIn('2026-01')]).toEqual([[], 0]);
    await enter('2026-01-11', null, 2_000);
    const shop = { ...fields, date: '2026-01-11', payee: '', amountMinor: -900 };
    await addEntry(writer, accountId, shop, [{ id: '', categoryId: food, amountMinor: -600, notes: '' }]);
    expect(reported()).toContainEqual({ month: '2026-01', categoryId: null, spentMinor: 300 });
    expect(uncategorisedIn('2026-01')).toBe(300);
    await setSetting(writer, 'first-day', '12');
    expect(['2025-12', '2026-01'].map(uncategorisedIn)).toEqual([300, 0]);
  });

  it('carries over the remaining money, and starts at zero after overspending', async () => {
    await put('2026-01', food, 5_000);
    await put('2026-01', fun, 1_000);
    await enter('2026-01-15', food, -2_000);
    await enter('2026-01-15', fun, -1_700);
    expect(available('2026-01')).toEqual({ '': 4_000n, Food: 3_000n, Fun: -700n });
    expect(available('2026-03')).toEqual({ '': 3_300n, Food: 3_000n, Fun: 0n });
    expect(plan('2026-03').overspentBeforeMinor).toBe(700n);
  });

  it('carries over overspending in envelopes that keep it', async () => {
    await setKeepsOverspent(writer, fun, true);
    await put('2026-01', fun, 1_000);
    await enter('2026-01-15', fun, -1_700);
    expect(available('2026-03')).toEqual({ '': 9_000n, Food: 0n, Fun: -700n });
    await put('2026-02', fun, 700);
    expect(available('2026-03')).toEqual({ '': 8_300n, Food: 0n, Fun: 0n });
    expect(plan('2026-03').overspentBeforeMinor).toBe(0n);
    await setKeepsOverspent(writer, fun, false);
    expect(available('2026-02')).toEqual({ '': 7_600n, Food: 0n, Fun: 700n });
  });

  it('excludes other currencies and later months', async () => {
    const dollars = await addAccount(writer, { name: 'Dollars', kind: 'cash', currency: 'USD', openingMinor: 0 });
    await addEntry(writer, dollars, { date: '2026-01-01', payee: '', notes: '', categoryId: food, amountMinor: -100 });
    await assign(writer, [{ month: '2026-01', currency: 'USD', categoryId: food, amountMinor: 100 }]);
    await put('2026-02', food, 100);
    expect(available('2026-01')).toEqual({ '': 10_000n, Food: 0n, Fun: 0n });
  });
});

it('each side of a transfer between currencies counts in its own currency', async () => {
  const dollars = await addAccount(writer, { name: 'Dollars', kind: 'cash', currency: 'USD', openingMinor: 0 });
  const exchange = { date: '2026-01-10', notes: '', categoryId: null, amountMinor: -7_000, otherMinor: 8_000 };
  await addTransfer(writer, accountId, dollars, exchange);
  await put('2026-01', food, 1_000);
  const inDollars = monthBudget({
    month: '2026-01',
    categories: writer.rows<CategoryRow>(categoriesByName),
    assigned: writer.rows<AssignedRow>(assignedByMonth, ['USD', '2026-01']),
    activity: writer.rows<ActivityRow>(activityByMonth, ['USD', '2026-01']),
    openingMinor: 0n,
  });
  expect([plan('2026-01').unassignedMinor, inDollars.unassignedMinor]).toEqual([2_000n, 8_000n]);
});

describe('assigning', () => {
  it('writes the difference from the current amount, and nothing if there is none', async () => {
    await put('2026-01', food, 5_000);
    await put('2026-01', food, 4_000);
    // The second click of a double click.
    await put('2026-01', food, 4_000);
    expect(plan('2026-01').assignedMinor).toBe(4_000n);
    expect(writer.rows('SELECT amountMinor FROM assignments ORDER BY rowid')).toEqual([
      { amountMinor: 5_000 },
      { amountMinor: -1_000 },
    ]);
  });

  it('compares with the current amount of the same month and currency', async () => {
    await put('2026-01', food, 5_000);
    await put('2026-02', food, 400);
    await assign(writer, [{ month: '2026-01', currency: 'USD', categoryId: food, amountMinor: 700 }]);
    expect(writer.rows('SELECT amountMinor FROM assignments ORDER BY rowid')).toEqual([
      { amountMinor: 5_000 },
      { amountMinor: 400 },
      { amountMinor: 700 },
    ]);
  });

  it('moves money from one envelope to another', async () => {
    await put('2026-01', food, 5_000);
    await move(writer, { month: '2026-01', currency: 'EUR', categoryId: food, amountMinor: 2_000 }, fun);
    expect(available('2026-01')).toEqual({ '': 5_000n, Food: 3_000n, Fun: 2_000n });
  });

  it('assigns to several envelopes at once', async () => {
    await assign(
      writer,
      [food, fun].map((categoryId) => ({
        month: '2026-01',
        currency: 'EUR',
        categoryId,
        amountMinor: categoryId === fun ? 0 : 700,
      })),
    );
    expect(available('2026-01')).toEqual({ '': 9_300n, Food: 700n, Fun: 0n });
  });
});

it('months that begin on the 25th count the days from the 25th to the 24th', async () => {
  await setSetting(writer, 'first-day', '25');
  await enter('2026-01-24', food, -100);
  await enter('2026-01-25', food, -2_000);
  await enter('2026-02-24', food, -30_000);
  await enter('2026-02-25', food, -400_000);
  const spentIn = (month: string): bigint | undefined =>
    plan(month).envelopes.find(({ categoryId }) => categoryId === food)?.spentMinor;
  expect(['2025-12', '2026-01', '2026-02', '2026-03'].map(spentIn)).toEqual([100n, 32_000n, 400_000n, 0n]);
  // A value that this version does not support counts as the 1st.
  await setSetting(writer, 'first-day', '29');
  expect(['2026-01', '2026-02'].map(spentIn)).toEqual([2_100n, 430_000n]);
});
