import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { decodeFile } from '../file/decode.ts';
import { readTable, type Table } from '../file/table.ts';
import { guessColumns, isComplete } from './columns.ts';
import { correctTable } from './corrections.ts';
import { parseDate, recogniseDateOrder, type DateOrder } from './dates.ts';
import { daysAround } from './days-of-table.ts';
import { recogniseDecimalMark } from './decimal-mark.ts';
import { fnv1a128, importKey } from './import-key.ts';
import { planImport, planProblemSentence } from './plan.ts';
import { nothingKnown, previewImport, type ImportSettings } from './preview.ts';
import { rowProblemSentence, type RowProblem } from './problem.ts';

function tableOf(text: string): Table {
  const table = readTable(text);
  if (!table.ok) throw new Error(table.problem.code);
  return table.value;
}

function date(text: string, order: DateOrder): string {
  const result = parseDate(text, order);
  return result.ok ? result.value : result.problem.code;
}

const settings: ImportSettings = {
  accountId: 'a1',
  currency: 'EUR',
  columns: {
    date: 0,
    payee: 1,
    amount: 2,
    debit: null,
    credit: null,
    direction: null,
    notes: null,
    currency: null,
    bankId: null,
    category: null,
  },
  dateOrder: 'year-month-day',
  decimalMark: 'point',
  turnSigns: false,
};

describe('dates', () => {
  it.each([
    ['2025-01-31', 'year-month-day'],
    ['20250131', 'year-month-day'],
    ['2025/1/31', 'year-month-day'],
    ['2025-01-31T10:20:30Z', 'year-month-day'],
    ['31.01.2025', 'day-month-year'],
    ['31.1.25', 'day-month-year'],
    ['31. 1. 2025', 'day-month-year'],
    ['31/01/2025 14:05', 'day-month-year'],
    ['31-01-25', 'day-month-year'],
    ['01/31/2025', 'month-day-year'],
  ] as const)('reads %s', (text, order) => {
    expect(date(text, order)).toBe('2025-01-31');
  });

  it('distinguishes missing dates, unreadable dates and impossible days', () => {
    expect(date(' ', 'year-month-day')).toBe('date-missing');
    expect(date('soon', 'year-month-day')).toBe('date-unreadable');
    expect(date('1.2-2025', 'day-month-year')).toBe('date-unreadable');
    expect(date('31/01/2025', 'year-month-day')).toBe('date-unreadable');
    expect(date('31.02.2025', 'day-month-year')).toBe('date-impossible');
    expect(date('29.02.2023', 'day-month-year')).toBe('date-impossible');
    expect(date('29.02.2024', 'day-month-year')).toBe('2024-02-29');
  });

  it('places two-digit years near today', () => {
    expect([date('01-02-69', 'day-month-year'), date('01-02-70', 'day-month-year')]).toEqual([
      '2069-02-01',
      '1970-02-01',
    ]);
  });

  it('infer the order from a date whose day is greater than 12', () => {
    expect(recogniseDateOrder(['04/05/2025', '13/05/2025'])).toEqual({ order: 'day-month-year', alternatives: [] });
    expect(recogniseDateOrder(['04/05/2025', '05/13/2025'])).toEqual({ order: 'month-day-year', alternatives: [] });
    expect(recogniseDateOrder(['2025-04-05'])).toEqual({ order: 'year-month-day', alternatives: [] });
    expect(recogniseDateOrder(['04.05.2025'])).toEqual({ order: 'day-month-year', alternatives: [] });
  });

  it('are ambiguous if two orders read the column as different days, with the sorted reading first', () => {
    expect(recogniseDateOrder(['04/05/2025'])).toEqual({ order: 'day-month-year', alternatives: ['month-day-year'] });
    expect(recogniseDateOrder(['01/03/2025', '01/09/2025', '02/01/2025'])).toEqual({
      order: 'month-day-year',
      alternatives: ['day-month-year'],
    });
    expect(recogniseDateOrder(['02/01/2025', '01/09/2025', '01/03/2025']).order).toBe('month-day-year');
    expect(recogniseDateOrder(['05/05/2025'])).toEqual({ order: 'day-month-year', alternatives: [] });
  });

  it('keep the order of most rows if a few are unreadable', () => {
    expect(recogniseDateOrder(['13.05.2025', 'pending', '14.05.2025']).order).toBe('day-month-year');
  });
});

describe('detecting the decimal mark', () => {
  it.each([
    [['1.234,56'], 'comma', false],
    [['1,234.56'], 'point', false],
    [['3,5', '1.234'], 'comma', false],
    [['1.234.567'], 'comma', false],
    [['1,234,567'], 'point', false],
    [['12'], 'point', false],
    [['1.234'], 'point', true],
    [['0,500'], 'comma', false],
    [['EUR 12,00-', 'Fr. 3,10'], 'comma', false],
    [['Fr.3.50', 'Rs.1,234.00'], 'point', false],
    [['Rs.500.00', '.50'], 'point', false],
  ] as const)('works for %s', (amounts, mark, ambiguous) => {
    expect(recogniseDecimalMark(amounts)).toEqual({ mark, ambiguous });
  });
});

describe('guessing columns', () => {
  it('recognises banks’ header words', () => {
    const german = tableOf(
      'Buchungstag;Wertstellung;Auftraggeber/Empfänger;Verwendungszweck;Betrag;Saldo;Währung\n01.02.2025;02.02.2025;Rent;Flat;-900,00;100,00;EUR\n',
    );
    expect(guessColumns(german)).toEqual({
      date: 0,
      amount: 4,
      debit: null,
      credit: null,
      payee: 2,
      notes: 3,
      currency: 6,
      bankId: null,
      direction: null,
      category: null,
    });
    const twoSided = tableOf(
      'Date,Type,Details,Paid out,Paid in,Balance\n2025-01-31,CARD,Coffee,3.50,,10.00\n2025-02-01,CRED,Wages,,100.00,110.00\n',
    );
    expect(guessColumns(twoSided)).toMatchObject({ date: 0, amount: null, debit: 3, credit: 4, payee: 1 });
  });

  it('inspects the cells if the header does not help, and never mistakes a date for an amount', () => {
    const bare = tableOf('2025-01-31,Coffee,-3.50\n2025-02-01,Rent,-900\n');
    expect(guessColumns(bare)).toEqual({
      date: 0,
      amount: 2,
      debit: null,
      credit: null,
      payee: 1,
      notes: null,
      currency: null,
      bankId: null,
      direction: null,
      category: null,
    });
  });

  it('trusts the name of a column if most of its cells are unreadable', () => {
    const table = tableOf('Date,Payee,Amount\nsoon,Rent,a lot\nlater,Coffee,little\n2025-01-31,Books,-3.50\n');
    expect(guessColumns(table)).toMatchObject({ date: 0, payee: 1, amount: 2 });
  });

  it('is complete only with a date and an amount', () => {
    expect(isComplete(settings.columns)).toBe(true);
    expect(isComplete({ ...settings.columns, amount: null })).toBe(false);
    expect(isComplete({ ...settings.columns, amount: null, debit: 3 })).toBe(true);
    expect(isComplete({ ...settings.columns, date: null })).toBe(false);
  });
});

describe('import keys', () => {
  it('hash like 128-bit FNV-1a', () => {
    expect(fnv1a128('')).toBe('6c62272e07bb014262b821756295c58d');
    expect(fnv1a128('a')).toBe('d228cb696f1a8caf78912b704e4a8964');
    expect(fnv1a128('foobar')).toBe('343e1662793c64bf6f0d3597ba446f18');
  });

  it('do not change between releases', () => {
    const identity = { accountId: 'a1', date: '2025-01-31', amountMinor: -350, payee: 'Coffee', occurrence: 1 };
    expect(importKey(identity)).toBe('imported-4d94302f1c8b328ef4aa7e1ea8f60099');
  });

  it('ignore case and spacing of the payee, and nothing else', () => {
    const identity = { accountId: 'a1', date: '2025-01-31', amountMinor: -350, payee: 'Café Two', occurrence: 1 };
    expect(importKey({ ...identity, payee: ' CAFE\u0301  two ' })).toBe(importKey(identity));
    const others = [
      { accountId: 'a2' },
      { date: '2025-02-01' },
      { amountMinor: 350 },
      { payee: 'Café' },
      { occurrence: 2 },
    ];
    for (const other of others) expect(importKey({ ...identity, ...other })).not.toBe(importKey(identity));
  });
});

describe('the preview', () => {
  it('shows each row as it would be written, or why it cannot be', () => {
    const table = tableOf(
      'Date,Payee,Amount\n2025-01-31,Coffee,-3.50\n2025-02-30,Rent,-900\nsoon,Rent,-900\n2025-02-01,Rent,much\n2025-02-02,Gold,99999999999999.99\n',
    );
    const rows = previewImport(table, settings, nothingKnown);
    expect(rows[0]?.draft).toMatchObject({ date: '2025-01-31', amountMinor: -350, payee: 'Coffee', notes: '' });
    expect(rows.map((row) => row.problems.map((problem) => problem.code))).toEqual([
      [],
      ['date-impossible'],
      ['date-unreadable'],
      ['amount-unreadable'],
      ['amount-too-large'],
    ]);
  });

  it('reads money out from one column and money in from another', () => {
    const table = tableOf(
      'Date,Out,In\n2025-01-31,3.50,\n2025-01-31,-4.50,0.00\n2025-02-01,,100\n2025-02-01,1,2\n2025-02-01,,\n2025-02-01,0.00,0.00\n',
    );
    const columns = { ...settings.columns, payee: null, amount: null, debit: 1, credit: 2 };
    const rows = previewImport(table, { ...settings, columns }, nothingKnown);
    expect(rows.map((row) => row.draft?.amountMinor ?? row.problems[0]?.code)).toEqual([
      -350,
      -450,
      10000,
      'amount-on-both-sides',
      'amount-missing',
      0,
    ]);
  });

  it('flips signs if a card statement writes spending without a minus', () => {
    const table = tableOf('Date,Payee,Amount\n2025-01-31,Coffee,3.50\n2025-01-31,Nothing,0\n');
    expect(
      previewImport(table, { ...settings, turnSigns: true }, nothingKnown).map((row) => row.draft?.amountMinor),
    ).toEqual([-350, 0]);
    const sides = tableOf('Date,Out,In\n2025-01-31,3.50,\n2025-02-01,,100\n');
    const columns = { ...settings.columns, payee: null, amount: null, debit: 1, credit: 2 };
    expect(
      previewImport(sides, { ...settings, columns, turnSigns: true }, nothingKnown).map(
        (row) => row.draft?.amountMinor,
      ),
    ).toEqual([350, -10_000]);
  });

  it('takes money out if the direction says so, whether or not the amount has a sign', () => {
    const table = tableOf(
      'Date,Payee,Amount,Direction\n2025-01-31,Coffee,-3.50,DR\n2025-01-31,Tea,2.00,DR\n2025-01-31,Wages,9.00,CR\n',
    );
    const rows = previewImport(table, { ...settings, columns: { ...settings.columns, direction: 3 } }, nothingKnown);
    expect(rows.map((row) => row.draft?.amountMinor)).toEqual([-350, -200, 900]);
  });

  it('rejects a row in a currency other than the account’s', () => {
    const table = tableOf(
      'Date,Payee,Amount,Currency\n2025-01-31,Coffee,3.50,EUR\n2025-01-31,Coffee,3.50,USD\n2025-01-31,Tea,2.50,eur\n',
    );
    const rows = previewImport(table, { ...settings, columns: { ...settings.columns, currency: 3 } }, nothingKnown);
    expect(rows.map((row) => row.problems.map((problem) => problem.code))).toEqual([[], ['currency-differs'], []]);
  });

  it('keeps two equal rows of a file as two, and recognises both the next time', () => {
    const table = tableOf('Date,Payee,Amount\n2025-01-31,Coffee,-3.50\n2025-01-31,Coffee,-3.50\n');
    const first = previewImport(table, settings, nothingKnown);
    const keys = first.flatMap((row) => (row.draft === undefined ? [] : [row.draft.importKey]));
    expect(new Set(keys).size).toBe(2);
    const again = previewImport(
      tableOf('Date,Payee,Amount\n2025-01-31,Coffee,-3.50\n2025-01-31,Coffee,-3.50\n2025-01-31,Coffee,-3.50\n'),
      settings,
      { ...nothingKnown, importKeys: new Set(keys) },
    );
    expect(again.map((row) => row.duplicate)).toEqual([true, true, false]);
  });

  it('has a sentence for each row problem', () => {
    const problems: RowProblem[] = [
      { code: 'date-missing' },
      { code: 'date-unreadable' },
      { code: 'date-impossible' },
      { code: 'amount-on-both-sides' },
      { code: 'currency-differs', found: 'USD', expected: 'EUR' },
      { code: 'amount-missing' },
    ];
    for (const problem of problems) expect(rowProblemSentence(problem)).toMatch(/^[A-Z].*\.$/);
  });
});

describe('a row with a bank id', () => {
  const numbered: ImportSettings = { ...settings, columns: { ...settings.columns, bankId: 3 } };
  const keys = (text: string): (string | undefined)[] =>
    previewImport(tableOf(`Date,Payee,Amount,Id\n${text}`), numbered, nothingKnown).map((row) => row.draft?.importKey);

  it('is recognised by that id, even if the bank corrects the rest', () => {
    expect(keys('2025-01-31,Coffee,-3.50,A1\n')).toEqual(keys('2025-02-01,Third Rail Coffee,-3.60,A1\n'));
    expect(keys('2025-01-31,Coffee,-3.50,A1\n')).not.toEqual(keys('2025-01-31,Coffee,-3.50,A2\n'));
  });

  it.each(['NOTPROVIDED', 'nonref', '0'])('that is a placeholder is recognised by its other fields: %s', (id) => {
    expect(keys(`2025-01-31,Coffee,-3.50,${id}\n`)).not.toEqual(keys(`2025-02-28,Tea,-2.00,${id}\n`));
    expect(keys(`2025-01-31,Coffee,-3.50,${id}\n`)).toEqual(keys('2025-01-31,Coffee,-3.50,\n'));
  });

  it('is distinct from another row if the bank used the id twice', () => {
    expect(new Set(keys('2025-01-31,Coffee,-3.50,A1\n2025-01-31,Tea,-2.00,A1\n')).size).toBe(2);
  });
});

describe('a possible duplicate', () => {
  const table = tableOf('Date,Payee,Amount\n2025-01-31,Coffee,-3.50\n2025-01-31,Rent,-900\n');
  const typed = { id: 'e1', date: '2025-01-29', payee: 'coffee', amountMinor: -350, importKey: null };

  it('is left out, and counted, unless the user keeps it', () => {
    const rows = previewImport(table, settings, { importKeys: new Set(), entries: [typed] });
    expect(rows.map((row) => row.alike?.id)).toEqual(['e1', undefined]);
    expect(planImport(rows, new Set())).toMatchObject({
      ok: true,
      value: { entries: [{ payee: 'Rent' }], alikeCount: 1, skippedCount: 0 },
    });
    expect(planImport(rows, new Set(), new Set([2]))).toMatchObject({
      ok: true,
      value: { entries: [{ payee: 'Coffee' }, { payee: 'Rent' }], alikeCount: 0 },
    });
  });

  it('is not an entry that the file itself imported earlier', () => {
    const [first] = previewImport(table, settings, nothingKnown);
    const before = { ...typed, date: '2025-01-31', importKey: first?.draft?.importKey ?? '' };
    const twice = tableOf('Date,Payee,Amount\n2025-01-31,Coffee,-3.50\n2025-01-31,Coffee,-3.50\n');
    const rows = previewImport(twice, settings, { importKeys: new Set([before.importKey]), entries: [before] });
    expect(rows.map((row) => [row.duplicate, row.alike])).toEqual([
      [true, null],
      [false, null],
    ]);
  });
});

describe('a correction', () => {
  it('replaces the cells of its row', () => {
    const table = correctTable(
      tableOf('Date,Payee,Amount\nsoon,Rent,-900\n2025-01-31,Coffee,-3.50\n'),
      new Map([[2, ['2025-02-01', 'Rent', '-900']]]),
    );
    expect(previewImport(table, settings, nothingKnown).map((row) => row.draft?.date)).toEqual([
      '2025-02-01',
      '2025-01-31',
    ]);
  });
});

describe('the day range of a table', () => {
  it('extends four days on both sides', () => {
    const table = tableOf('Date,Payee,Amount\n2025-01-31,Coffee,-3.50\nsoon,Rent,-900\n2025-01-02,Rent,-900\n');
    expect(daysAround(table, 0, 'year-month-day')).toEqual({ first: '2024-12-29', last: '2025-02-04' });
    expect(daysAround(table, 1, 'year-month-day')).toEqual({ first: '', last: '' });
  });
});

describe('the import plan', () => {
  const table = tableOf('Date,Payee,Amount\n2025-01-31,Coffee,-3.50\nsoon,Rent,-900\n');

  it('does not exist while a row has a problem', () => {
    const plan = planImport(previewImport(table, settings, nothingKnown), new Set());
    expect(plan).toEqual({ ok: false, problem: { code: 'plan-unresolved', rowNumbers: [3] } });
    expect(planProblemSentence({ code: 'plan-unresolved', rowNumbers: [3] })).toContain('Nothing is imported');
  });

  it('leaves out rows that the user skips', () => {
    const plan = planImport(previewImport(table, settings, nothingKnown), new Set([3]));
    expect(plan).toMatchObject({
      ok: true,
      value: { entries: [{ payee: 'Coffee' }], duplicateCount: 0, skippedCount: 1 },
    });
  });

  it('does not exist for a table without rows', () => {
    expect(planImport([], new Set())).toEqual({ ok: false, problem: { code: 'plan-has-no-rows' } });
  });
});

describe('the samples', () => {
  it.each([
    ['meridian-giro.csv', 'day-month-year', 'comma'],
    ['harbour-checking.csv', 'month-day-year', 'point'],
  ] as const)('need no correction: %s', async (name, dateOrder, decimalMark) => {
    const decoded = await decodeFile(
      new Uint8Array(readFileSync(new URL(`../../../public/samples/${name}`, import.meta.url))),
    );
    if (!decoded.ok) throw new Error(decoded.problem.code);
    const table = tableOf(decoded.value.text);
    const columns = guessColumns(table);
    expect(recogniseDateOrder(table.rows.map((row) => row.cells[columns.date ?? -1] ?? ''))).toEqual({
      order: dateOrder,
      alternatives: [],
    });
    expect(recogniseDecimalMark(table.rows.map((row) => row.cells[columns.amount ?? -1] ?? ''))).toEqual({
      mark: decimalMark,
      ambiguous: false,
    });
    const rows = previewImport(table, { ...settings, columns, dateOrder, decimalMark }, nothingKnown);
    const plan = planImport(rows, new Set());
    expect(plan.ok && plan.value.entries.length).toBe(table.rows.length);
    expect(plan.ok && new Set(plan.value.entries.map((entry) => entry.importKey)).size).toBe(table.rows.length);
  });
});
