import { expect, it } from 'vitest';
import { known } from '../../testing/known-rows.ts';
import { formatDay } from '../shell/locale.ts';
import { differencesOf, withNewAccounts, type ChangedRow, type KnownRows } from './row-differences.ts';

const day = formatDay('2026-04-01');

function assigned(id: string, categoryId: string, month: string, minor: number, isGone = false): ChangedRow {
  const values = { categoryId, month, currency: 'EUR', amountMinor: minor };
  const changes = Object.entries(values).map(([column, value]) => ({
    column,
    before: isGone ? value : null,
    after: isGone ? null : value,
  }));
  return { table: 'assignments', key: [id], kind: isGone ? 'delete' : 'insert', changes };
}

it('the difference adds up the assignments to one envelope and month', () => {
  const rows = [
    assigned('a', 'food', '2026-04', 5_000),
    assigned('b', 'food', '2026-04', -2_000),
    assigned('c', 'food', '2026-05', 100),
    assigned('d', 'fun', '2026-04', 700, true),
    assigned('e', 'fun', '2026-05', 700),
    assigned('f', 'fun', '2026-05', -700),
  ];
  expect(differencesOf(rows, known).map(({ title, lines }) => [title, lines[0]?.after])).toEqual([
    ['Groceries, April 2026', '+€30.00'],
    ['Groceries, May 2026', '+€1.00'],
    ['Leisure, April 2026', '-€7.00'],
  ]);
});

it('the difference names entries by payee and day, in the currency of their account, and omits the list of deleted ones', () => {
  const cell = (column: string, before: string | number | null, after: string | number | null) => ({
    column,
    before,
    after,
  });
  const rows: ChangedRow[] = [
    { table: 'entries', key: ['e'], kind: 'update', changes: [cell('amountMinor', -900, -950)] },
    {
      table: 'parts',
      key: ['e/1'],
      kind: 'insert',
      changes: [cell('entryId', null, 'e'), cell('amountMinor', null, -5)],
    },
    {
      table: 'entries',
      key: ['gone'],
      kind: 'delete',
      changes: [cell('accountId', 'giro', null), cell('amountMinor', -1, null)],
    },
    { table: 'deletedEntries', key: ['gone'], kind: 'insert', changes: [] },
    { table: 'categories', key: ['food'], kind: 'update', changes: [cell('name', 'Food', 'Groceries')] },
  ];
  expect(
    differencesOf(rows, known).map(({ title, lines }) => [
      title,
      ...lines.map(({ label, before, after }) => `${label}: ${before ?? ''} > ${after ?? ''}`),
    ]),
  ).toEqual([
    [`Changed entry: Rent, ${day}`, 'Amount: -¥900 > -¥950'],
    [`New part of a split: Rent, ${day}`, 'Amount:  > -¥5'],
    ['Deleted entry', 'Account: Giro > ', 'Amount: -¥1 > '],
    ['Changed category: Groceries', 'Name: Food > Groceries'],
  ]);
});

it('the difference names an entry that is in no table by its values', () => {
  const changes = Object.entries({ date: '2026-04-01', payee: 'Ferry', amountMinor: -5 }).map(([column, after]) => ({
    column,
    before: null,
    after,
  }));
  expect(differencesOf([{ table: 'entries', key: ['new'], kind: 'insert', changes }], known)).toMatchObject([
    { title: `New entry: Ferry, ${day}` },
  ]);
});

it('the difference shows the amount of an unknown account without a currency, and of a new one in its own', () => {
  const cell = (column: string, after: string | number) => ({ column, before: null, after });
  const entry: ChangedRow = {
    table: 'entries',
    key: ['new'],
    kind: 'insert',
    changes: [cell('accountId', 'trip'), cell('amountMinor', -1_200)],
  };
  const account: ChangedRow = {
    table: 'accounts',
    key: ['trip'],
    kind: 'insert',
    changes: [cell('name', 'Trip'), cell('currency', 'JPY')],
  };
  const linesOf = (more: KnownRows): (string | null)[] =>
    differencesOf([entry], more).flatMap(({ lines }) => lines.map(({ after }) => after));
  expect(linesOf(known)).toEqual(['an account', '-12.00']);
  expect(linesOf(withNewAccounts(known, [account]))).toEqual(['Trip', '-¥1,200']);
});

it('the difference leaves out columns that the app does not show', () => {
  const changes = [
    { column: 'unit', before: null, after: 'month' },
    { column: 'payee', before: null, after: 'Rent' },
  ];
  expect(differencesOf([{ table: 'schedules', key: ['s'], kind: 'insert', changes }], known)).toMatchObject([
    { title: 'New scheduled entry: Rent', lines: [{ label: 'Payee' }] },
  ]);
});

it('the difference says that a document was edited, without its content', () => {
  const changes = [{ column: 'content', before: null, after: null, isEdit: true }];
  expect(differencesOf([{ table: 'notes', key: ['month'], kind: 'update', changes }], known)).toMatchObject([
    { title: 'Changed note', lines: [{ label: 'Text', before: null, after: 'edited' }] },
  ]);
});
