import { describe, expect, it } from 'vitest';
import type { ConflictRow } from '../queries/conflicts.ts';
import type { Wording } from '../words/row-words.ts';
import { lossWords, ruleWords, valueWords } from './conflict-words.ts';
import { conflictsOf, isRestorable, stateOf, type Conflict } from './conflicts.ts';

const amount: ConflictRow = {
  id: '1',
  watermark: 7,
  tableName: 'entries',
  rowKey: '["e1"]',
  columnName: 'amountMinor',
  rule: 'lww',
  lostValue: -4190,
  wonValue: -4210,
  lostBy: 'device-1',
  wonBy: 'device-2',
  lostAtMs: 1,
  wonAtMs: 2,
  rowName: 'Coffee',
  rowDate: '2025-01-31',
  currency: 'EUR',
  transferId: null,
  otherMinor: null,
  dismissed: 0,
  currentRow: JSON.stringify({ amountMinor: -4210, notes: '', categoryId: null, date: '2025-01-31', status: 'open' }),
};
const goal: ConflictRow = {
  ...amount,
  tableName: 'goals',
  rowKey: '["c1/EUR"]',
  rowName: 'Goal for Food',
  rowDate: null,
  currentRow: JSON.stringify({ kind: 'monthly', amountMinor: 40_000, byMonth: null }),
};
const wording: Wording = {
  currency: 'EUR',
  locale: 'en',
  categoryNames: new Map([['c1', 'Groceries']]),
  accountNames: new Map([['a1', 'Purse']]),
};

function only(rows: readonly ConflictRow[]): Conflict {
  const conflicts = conflictsOf(rows);
  expect(conflicts).toHaveLength(1);
  return conflicts[0] as Conflict;
}
const told = (row: ConflictRow): [string, string] => [
  lossWords(only([row])),
  valueWords(only([row]), 'lostValue', wording),
];

describe('conflicts', () => {
  it.each([
    [{}, ['Amount', '-€41.90']],
    [{ columnName: 'categoryId', lostValue: 'c1' }, ['Category', 'Groceries']],
    [{ columnName: 'categoryId', lostValue: null }, ['Category', 'no category']],
    [{ columnName: 'notes', lostValue: '' }, ['Memo', 'nothing']],
    [{ columnName: 'status', lostValue: 'cleared' }, ['Status', 'cleared']],
    [{ columnName: 'accountId', lostValue: 'a1' }, ['Account', 'Purse']],
    [{ columnName: 'date', lostValue: '2025-02-01' }, ['Date', 'Feb 1, 2025']],
    [{ tableName: 'accounts', columnName: 'closed', lostValue: 1 }, ['Closed', 'closed']],
    [{ columnName: null, lostValue: null, rule: 'update-wins' }, ['Everything', 'nothing']],
  ] as const)('are described in the app’s words: %o', (change, words) =>
    expect(told({ ...amount, ...change })).toEqual(words),
  );

  it('count once per column group, and are described as a whole, including equal values', () => {
    const conflict = only([
      { ...goal, id: '1', columnName: 'amountMinor', lostValue: 30_000, wonValue: 40_000 },
      { ...goal, id: '2', columnName: 'byMonth', lostValue: '2027-03', wonValue: null },
    ]);
    expect(lossWords(conflict)).toBe('Goal');
    expect([valueWords(conflict, 'lostValue', wording), valueWords(conflict, 'wonValue', wording)]).toEqual([
      '€300.00 by March 2027',
      '€400.00 each month',
    ]);
    const rule = only([
      {
        ...goal,
        tableName: 'rules',
        columnName: 'value',
        lostValue: 'shop',
        currentRow: JSON.stringify({
          field: 'payee',
          test: 'contains',
          value: 'market',
          moreConditions: '[{"field":"account","test":"is","value":"a1"}]',
          needs: 'any',
        }),
      },
    ]);
    expect(valueWords(rule, 'lostValue', wording)).toBe('the payee contains “shop” or the account is Purse');
    const schedule = only([
      {
        ...goal,
        tableName: 'schedules',
        columnName: 'every',
        lostValue: 2,
        currentRow: JSON.stringify({ firstDate: '2025-02-01', every: 1, unit: 'month' }),
      },
    ]);
    expect([lossWords(schedule), valueWords(schedule, 'lostValue', wording)]).toEqual([
      'Repeats',
      'every 2 months from Feb 1, 2025 on',
    ]);
  });

  it('count separately for separate columns and separate decisions', () => {
    expect(
      conflictsOf([amount, { ...amount, id: '2', columnName: 'notes' }, { ...amount, id: '3', watermark: 8 }]),
    ).toHaveLength(3);
  });

  it('are not restorable if the row is deleted, or already has the lost value', () => {
    expect(isRestorable(only([amount]))).toBe(true);
    expect(isRestorable(only([{ ...amount, rowName: null }]))).toBe(false);
    expect(isRestorable(only([{ ...amount, lostValue: -4210 }]))).toBe(false);
    expect(isRestorable(only([{ ...amount, columnName: 'nobody knows' }]))).toBe(false);
    expect(isRestorable(only([{ ...amount, tableName: 'nobody knows', currentRow: null }]))).toBe(false);
  });

  it('of the amount of a transfer are not restorable if its other side has another amount, as between currencies', () => {
    const transfer = { ...amount, transferId: 't' };
    expect(isRestorable(only([{ ...transfer, otherMinor: 4210 }]))).toBe(true);
    expect(isRestorable(only([{ ...transfer, otherMinor: 3800 }]))).toBe(false);
  });

  it('restore a deleted row only if the conflict log has every required column', () => {
    const gone = { ...goal, rule: 'delete-wins', rowName: null, currentRow: null } as const;
    const columns = ['categoryId', 'currency', 'kind', 'amountMinor'].map((columnName, index) => ({
      ...gone,
      id: String(index),
      columnName,
      lostValue: 'x',
    }));
    expect(isRestorable(only(columns))).toBe(true);
    expect(isRestorable(only(columns.slice(1)))).toBe(false);
  });

  it('name the rule that decided', () => expect(ruleWords['lww']).toContain('the later change won'));
});

describe('the state of a conflict', () => {
  const withAmount = (amountMinor: number): ConflictRow => ({ ...amount, currentRow: JSON.stringify({ amountMinor }) });
  const stateOfRow = (row: ConflictRow): string => stateOf(only([row]));

  it('is open while the value that won is the current one', () => {
    expect(stateOfRow(amount)).toBe('open');
    expect(stateOfRow({ ...amount, dismissed: 1 })).toBe('dismissed');
  });

  it('resolves when the lost value is restored, or when a later edit replaces both', () => {
    expect(stateOfRow(withAmount(-4190))).toBe('restored');
    expect(stateOfRow(withAmount(-5))).toBe('changed');
    expect(stateOfRow({ ...amount, rowName: null, currentRow: null })).toBe('changed');
  });

  it('is open while its row is deleted', () => {
    const deleted = { ...amount, rule: 'delete-wins', rowName: null, currentRow: null } as const;
    expect(stateOfRow(deleted)).toBe('open');
    expect(stateOfRow({ ...deleted, rowName: 'Coffee' })).toBe('restored');
  });
});
