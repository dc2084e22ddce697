import { beforeEach, describe, expect, it } from 'vitest';
import { addAccount } from '../accounts/actions.ts';
import { addStarterCategories } from '../categories/starter-categories.ts';
import { addEntry } from '../entries/actions.ts';
import { currenciesOfAccounts } from '../queries/accounts.ts';
import {
  cashFlowByMonth,
  changeOfAccountsByMonth,
  noCategory,
  reportedEntries,
  spanOfEntries,
  spendingByMonth,
  type AccountChangeRow,
  type ReportedEntryRow,
  type SpendingRow,
} from '../queries/reports.ts';
import { setSetting } from '../settings/actions.ts';
import { memoryWriter, type MemoryWriter } from '../../testing/memory-writer.ts';

let writer: MemoryWriter;
let giro: string;
let dollars: string;

async function enter(
  accountId: string,
  date: string,
  amountMinor: number,
  categoryId: string | null = null,
  payee = 'Somebody',
): Promise<void> {
  await addEntry(writer, accountId, { date, payee, notes: '', categoryId, amountMinor });
}

beforeEach(async () => {
  writer = memoryWriter();
  await addStarterCategories(writer);
  giro = await addAccount(writer, { name: 'Giro', kind: 'checking', currency: 'EUR', openingMinor: 1_000 });
  dollars = await addAccount(writer, { name: 'Dollars', kind: 'cash', currency: 'USD', openingMinor: 0 });
  await enter(giro, '2024-12-31', -100, 'starter-home');
  await enter(giro, '2025-01-01', -5_000, 'starter-groceries', 'Market');
  await enter(giro, '2025-01-09', 700, 'starter-groceries', 'Market');
  await enter(giro, '2025-01-31', -300);
  await enter(giro, '2025-01-31', 40);
  await enter(giro, '2025-02-01', 90_000, 'starter-income');
  await enter(dollars, '2025-01-15', -77, 'starter-groceries');
});

const january = ['EUR', '2025-01-01', '2025-01-31'] as const;

describe('spending', () => {
  it('subtracts refunds and includes uncategorised money, within one currency and period', () => {
    expect(writer.rows(spendingByMonth, january)).toEqual([
      { month: '2025-01', categoryId: null, spentMinor: 300 },
      { month: '2025-01', categoryId: 'starter-groceries', spentMinor: 4_300 },
    ]);
  });
});

describe('the cash-flow report', () => {
  it('puts uncategorised entries on the side of their direction, so that both sides together include every movement', () => {
    expect(writer.rows(cashFlowByMonth, ['EUR', '2025-01-01', '2025-02-31'])).toEqual([
      { month: '2025-01', side: 'income', changeMinor: 40 },
      { month: '2025-01', side: 'spending', changeMinor: -4_600 },
      { month: '2025-02', side: 'income', changeMinor: 90_000 },
    ]);
  });
});

describe('splits and transfers', () => {
  beforeEach(async () => {
    const savings = await addAccount(writer, { name: 'Savings', kind: 'savings', currency: 'EUR', openingMinor: 0 });
    const pension = await addAccount(writer, { name: 'Pension', kind: 'off-budget', currency: 'EUR', openingMinor: 0 });
    await enter(giro, '2025-03-01', -1_000, null, 'Department store');
    const [{ id } = { id: '' }] = writer.rows<{ id: string }>(
      "SELECT id FROM entries WHERE payee = 'Department store'",
    );
    for (const [number, categoryId, amountMinor] of [
      [1, 'starter-groceries', -600],
      [2, 'starter-home', -150],
    ] as const) {
      await writer.execute('INSERT INTO parts (id, entryId, categoryId, amountMinor) VALUES (?, ?, ?, ?)', [
        `${id}/${number}`,
        id,
        categoryId,
        amountMinor,
      ]);
    }
    await enter(giro, '2025-03-02', -5_000, null, 'To savings');
    await enter(savings, '2025-03-02', 5_000, null, 'From giro');
    await writer.execute("UPDATE entries SET transferId = 't' WHERE date = '2025-03-02'");
    await enter(pension, '2025-03-03', 900, null, 'Employer');
  });
  const march = ['EUR', '2025-03-01', '2025-03-31'] as const;

  it('count a split entry by its parts and remainder, and exclude transfers and off-budget entries', () => {
    expect(writer.rows(spendingByMonth, march)).toEqual([
      { month: '2025-03', categoryId: null, spentMinor: 250 },
      { month: '2025-03', categoryId: 'starter-groceries', spentMinor: 600 },
      { month: '2025-03', categoryId: 'starter-home', spentMinor: 150 },
    ]);
    expect(writer.rows(cashFlowByMonth, march)).toEqual([{ month: '2025-03', side: 'spending', changeMinor: -1_000 }]);
  });

  it('show the entry behind a figure with the category’s amount', () => {
    expect(
      writer.rows(reportedEntries, [...march, 'spending', 'spending', 'starter-groceries', 'starter-groceries', 10]),
    ).toMatchObject([{ payee: 'Department store', amountMinor: -600, allMinor: -600 }]);
    expect(writer.rows(reportedEntries, [...march, '', '', '', '', 10])).toHaveLength(3);
  });
});

describe('account changes', () => {
  it('start from the balance before the first day, and include accounts without changes', async () => {
    const empty = await addAccount(writer, { name: 'Empty', kind: 'savings', currency: 'EUR', openingMinor: 5 });
    const rows = writer.rows<AccountChangeRow>(changeOfAccountsByMonth, january);
    expect(
      rows.map(({ accountId, beforeMinor, month, changeMinor }) => [accountId, beforeMinor, month, changeMinor]),
    ).toEqual([
      [giro, 900, '2025-01', -4_560],
      [empty, 5, '2025-01', 0],
    ]);
  });
});

describe('the entries behind a figure', () => {
  const behind = (side: string, categoryId: string, limit = 10): ReportedEntryRow[] =>
    writer.rows<ReportedEntryRow>(reportedEntries, [...january, side, side, categoryId, categoryId, limit]);

  it('add up to it', () => {
    expect(behind('spending', 'starter-groceries').map(({ amountMinor, allMinor }) => [amountMinor, allMinor])).toEqual(
      [
        [700, -4_300],
        [-5_000, -4_300],
      ],
    );
    expect(behind('spending', noCategory)).toMatchObject([
      { amountMinor: -300, categoryName: null, accountName: 'Giro' },
    ]);
    expect(behind('spending', '')).toHaveLength(3);
    expect(behind('income', '')).toMatchObject([{ amountMinor: 40 }]);
    expect(behind('', '')).toHaveLength(4);
  });

  it('are all counted, however few are shown', () => {
    expect(behind('', '', 1)).toMatchObject([{ allCount: 4, allMinor: -4_560 }]);
  });
});

describe('the available months', () => {
  it('are listed by currency, with the opening balance of the accounts in the budget', async () => {
    await addAccount(writer, { name: 'Pension', kind: 'off-budget', currency: 'EUR', openingMinor: 70_000 });
    expect(writer.rows(currenciesOfAccounts)).toEqual([
      { currency: 'EUR', openingMinor: 1_000 },
      { currency: 'USD', openingMinor: 0 },
    ]);
    expect(writer.rows(spanOfEntries, ['EUR'])).toEqual([{ firstMonth: '2024-12', lastMonth: '2025-02' }]);
    expect(writer.rows(spanOfEntries, ['USD'])).toEqual([{ firstMonth: '2025-01', lastMonth: '2025-01' }]);
    expect(writer.rows(spanOfEntries, ['CHF'])).toEqual([{ firstMonth: null, lastMonth: null }]);
  });
});

describe('with months from the 25th', () => {
  it('reports sum the days from the 25th to the 24th, within the requested days', async () => {
    await setSetting(writer, 'first-day', '25');
    const [first, last] = ['2024-12-25', '2025-01-30'];
    const spent = writer.rows<SpendingRow>(spendingByMonth, ['EUR', first, last]);
    const sumOf = (month: string): number =>
      spent.filter((row) => row.month === month).reduce((sum, { spentMinor }) => sum + Number(spentMinor), 0);
    const entries = writer.rows<ReportedEntryRow>(reportedEntries, [
      'EUR',
      '2024-12-25',
      '2025-01-24',
      'spending',
      'spending',
      '',
      '',
      50,
    ]);
    expect([...new Set(spent.map(({ month }) => month))].toSorted()).toEqual(['2024-12']);
    expect(sumOf('2024-12')).toBe(-entries.reduce((sum, { amountMinor }) => sum + amountMinor, 0));
    const changes = writer.rows<AccountChangeRow>(changeOfAccountsByMonth, ['EUR', first, last]);
    expect(changes.filter(({ accountId }) => accountId === giro).map(({ month }) => month)).toEqual([
      '2024-12',
      '2025-01',
    ]);
    expect(writer.rows(spanOfEntries, ['EUR'])[0]).toMatchObject({ firstMonth: '2024-12' });
  });
});
